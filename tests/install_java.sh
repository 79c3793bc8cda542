#!/bin/sh
# Debian's Java for the tests that Spark takes part in. Needs root and apt.
set -e
command -v java >/dev/null && exit 0
command -v apt-get >/dev/null || { echo "there is no apt-get here"; exit 1; }
[ "$(id -u)" = 0 ] || { echo "only root may install Java"; exit 1; }
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >/dev/null
apt-get install -y -qq --no-install-recommends default-jre-headless >/dev/null
