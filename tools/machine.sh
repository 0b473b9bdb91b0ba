#!/usr/bin/env bash
# What some tests need on the machine beside Python: Java, for those of the Spark engine, Chromium, for those that look at
# pages, and PostgreSQL, of which tests start a server of their own. Where packages of Debian may be installed, they are;
# where not, nothing fails here: tests that lack something are skipped, and say what.
set -u

needs_java() { [ -z "${JAVA_HOME:-}" ] && ! command -v java > /dev/null; }
needs_browser() {
  ! command -v chromium > /dev/null && ! command -v chromium-browser > /dev/null && ! command -v google-chrome > /dev/null
}
needs_postgresql() { ! command -v initdb > /dev/null && ! ls /usr/lib/postgresql/*/bin/initdb > /dev/null 2>&1; }
install() { apt-get install -qq --yes --no-install-recommends "$@" > /dev/null 2>&1; }

if { needs_java || needs_browser || needs_postgresql; } && [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq > /dev/null 2>&1
  needs_java && { install openjdk-17-jre-headless || install default-jre-headless; }
  needs_browser && install chromium fonts-dejavu-core
  if needs_postgresql; then
    # Without the server that the package would start for the machine.
    mkdir -p /etc/postgresql-common
    settings=/etc/postgresql-common/createcluster.conf
    [ -e "$settings" ] || echo "create_main_cluster = false" > "$settings"
    install postgresql
  fi
fi
needs_java && echo "Java is not on this machine: tests of the Spark engine will be skipped" >&2
needs_browser && echo "Chromium is not on this machine: tests of pages in a browser will be skipped" >&2
needs_postgresql && echo "PostgreSQL is not on this machine: tests of its tables will be skipped" >&2
exit 0
