#!/bin/sh
# Debian's Chromium for the tests that open a report in a browser. Needs root and apt.
set -e
command -v chromium >/dev/null && exit 0
command -v apt-get >/dev/null || { echo "there is no apt-get here"; exit 1; }
[ "$(id -u)" = 0 ] || { echo "only root may install chromium"; exit 1; }
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >/dev/null
apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null
