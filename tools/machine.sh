#!/usr/bin/env bash
# What some tests need on the machine beside Python: Java, for those of the Spark engine. Where packages of Debian may be
# installed, it is; where not, nothing fails here: tests that lack something are skipped, and say what.
set -u

needs_java() { [ -z "${JAVA_HOME:-}" ] && ! command -v java > /dev/null; }

if needs_java && [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq > /dev/null 2>&1
  apt-get install -qq --yes --no-install-recommends openjdk-17-jre-headless > /dev/null 2>&1 ||
    apt-get install -qq --yes --no-install-recommends default-jre-headless > /dev/null 2>&1
fi
needs_java && echo "Java is not on this machine: tests of the Spark engine will be skipped" >&2
exit 0
