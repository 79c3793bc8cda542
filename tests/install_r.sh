#!/bin/sh
# Debian's R and jsonlite for the tests that R takes part in. Needs root and apt.
set -e
command -v Rscript >/dev/null && Rscript -e 'library(jsonlite); library(cluster)' >/dev/null 2>&1 && exit 0
command -v apt-get >/dev/null || { echo "there is no apt-get here"; exit 1; }
[ "$(id -u)" = 0 ] || { echo "only root may install R"; exit 1; }
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >/dev/null
apt-get install -y -qq --no-install-recommends r-base-core r-cran-cluster r-cran-jsonlite >/dev/null
