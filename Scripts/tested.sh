#!/bin/sh
# Builds the objects of which tests and installed programs are linked; options of `swift build` are handed on.
# Root works where Scripts/place.py puts the checkout: modules have their paths in them, and another path has a folder of its own.
set -eu
cd "$(dirname "$0")/.."

scratch=.build/tested
[ "$PWD" = /srv/wakebridge ] || scratch=.build/tested-here
# Tests/XCTMain.swift says why no index is kept; with one, the compiler would replay nothing.
# shellcheck disable=SC2046 # one word for each option
WAKEBRIDGE_OPTIMIZED=yes exec swift build --scratch-path "$scratch" --disable-index-store $(Scripts/cache.sh) "$@"
