#!/bin/sh
# Runs the unit tests under the address and the thread sanitizer, each with a build of its own; ends with one line.
# Scripts/sanitize.sh [address] [thread]
set -u
cd "$(dirname "$0")/.."

# Whole programs against real time stay out: a sanitizer slows them down several times over, and their deadlines are real.
units='^(WakeModel|WakeCore|WakeProfiles|WakeTrace|WakeLoop|WakeJournal|WakeSystem|WakeControl|WakeSources|WakeDaemon|WakeHandler|WakeDoctor)Tests\.'
failed=""

# What a library keeps until the process ends is no leak of ours, and a report must end the run.
export ASAN_OPTIONS=detect_leaks=0:halt_on_error=1 TSAN_OPTIONS=halt_on_error=1:report_bugs=1

for sanitizer in ${*:-address thread}; do
    swift test --sanitize="$sanitizer" --scratch-path ".build/$sanitizer" --no-parallel --filter "$units" ||
        failed="$failed $sanitizer"
done
[ -z "$failed" ] || { echo "FAIL: under the sanitizer of:$failed"; exit 1; }
echo "PASS: the unit tests under the sanitizers of: ${*:-address thread}"
