#!/bin/sh
# Runs what prints costs, built for speed. Numbers are printed and never asserted; they belong to the machine they ran on.
set -eu
cd "$(dirname "$0")/.."

if [ -d Tests/Benchmarks ]; then
    swift build --configuration release --product wakebridged
    swift run --configuration release Benchmarks "$@" </dev/null
fi

# Tests look inside modules, which a release build allows only when asked; a folder of its own keeps the two apart.
swift test --configuration release -Xswiftc -enable-testing --scratch-path .build/bench --no-parallel \
    --filter 'CostTests|JournalBenchmark' </dev/null
