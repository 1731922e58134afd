#!/bin/sh
# Builds a clone of the newest commit from nothing: no build folder, no cache of SwiftPM. It builds what is installed and all tests,
# and runs one file of them. `make prove` calls it, since a cache may hide that a fresh clone does not build.
set -eu
cd "$(dirname "$0")/.."

place=$PWD/.build/cold
trap 'rm -rf "$place"' EXIT
rm -rf "$place"
mkdir -p "$place"
git -c safe.directory='*' clone --quiet --no-local . "$place/clone"
export XDG_CACHE_HOME="$place/cache"
cd "$place/clone"
make build
Scripts/test.py prove WakeModelTests.ChannelTests
echo "PASS: a clone of $(git -c safe.directory='*' rev-parse --short HEAD) builds from nothing"
