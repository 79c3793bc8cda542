#!/bin/sh
# Debian's Chromium, Java or R, for the tests that need them: install.sh chromium|java|r
# Needs root and apt.
set -e
case "$1" in
chromium)
    found() { command -v chromium; }
    packages="chromium fonts-dejavu-core"
    ;;
java)
    found() { command -v java; }
    packages=default-jre-headless
    ;;
r)
    found() { command -v Rscript && Rscript -e 'library(jsonlite); library(cluster)'; }
    packages="r-base-core r-cran-cluster r-cran-jsonlite"
    ;;
*)
    echo "install.sh chromium|java|r"
    exit 2
    ;;
esac
found >/dev/null 2>&1 && exit 0
command -v apt-get >/dev/null || { echo "there is no apt-get here"; exit 1; }
[ "$(id -u)" = 0 ] || { echo "only root may install packages"; exit 1; }
# One at a time: tests run side by side.
if command -v flock >/dev/null; then
    exec 9>/var/lock/edfkmeans-tests
    flock 9
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >/dev/null
# shellcheck disable=SC2086  # several packages
apt-get install -y -qq --no-install-recommends $packages >/dev/null
