#!/usr/bin/env bash
# What some tests need on the machine beside Python: Java, for those of the Spark engine, and Chromium, for those that look at
# pages. Where packages of Debian may be installed, they are; where not, nothing fails here: tests that lack something are
# skipped, and say what.
set -u

needs_java() { [ -z "${JAVA_HOME:-}" ] && ! command -v java > /dev/null; }
needs_browser() {
  ! command -v chromium > /dev/null && ! command -v chromium-browser > /dev/null && ! command -v google-chrome > /dev/null
}
install() { apt-get install -qq --yes --no-install-recommends "$@" > /dev/null 2>&1; }

if { needs_java || needs_browser; } && [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq > /dev/null 2>&1
  needs_java && { install openjdk-17-jre-headless || install default-jre-headless; }
  needs_browser && install chromium fonts-dejavu-core
fi
needs_java && echo "Java is not on this machine: tests of the Spark engine will be skipped" >&2
needs_browser && echo "Chromium is not on this machine: tests of pages in a browser will be skipped" >&2
exit 0
