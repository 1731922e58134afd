#!/bin/sh
# Runs what prints costs, built for speed as `make install` builds it. Numbers are printed and never asserted; they belong to
# the machine they ran on. With --json nothing but one JSON value goes to standard output.
set -eu
cd "$(dirname "$0")/.."

export WAKEBRIDGE_BENCH=yes
for program in wakebridged wakebridge wakebridge-transferd Benchmarks JournalBenchmark; do
    Scripts/release.sh --product "$program" >&2
done
.build/static/bin/Benchmarks "$@" </dev/null
# The journal by itself, in a whole run that people read.
[ $# -gt 0 ] || .build/static/bin/JournalBenchmark speed </dev/null
