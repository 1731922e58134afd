#!/bin/sh
# Runs what prints costs, built for speed as `make install` builds it. Numbers are printed and never asserted; they belong to
# the machine they ran on.
set -eu
cd "$(dirname "$0")/.."

release="--configuration release --static-swift-stdlib --scratch-path .build/static"
for program in wakebridged Benchmarks JournalBenchmark; do
    # shellcheck disable=SC2086  # a list of words
    swift build $release --product "$program"
done
.build/static/release/Benchmarks "$@" </dev/null
.build/static/release/JournalBenchmark speed </dev/null
