#!/bin/sh
# Builds for speed: what is installed, and what is measured. Options are handed on: Scripts/release.sh --product wakebridge
set -eu
cd "$(dirname "$0")/.."

# The tests' builds check every access to memory for exclusivity; these need not do it again.
exec swift build --configuration release --static-swift-stdlib --scratch-path .build/static \
    -Xswiftc -enforce-exclusivity=unchecked "$@"
