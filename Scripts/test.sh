#!/bin/sh
# Builds and runs the tests through `swift test`, and ends with one line that says how it went; the status says it too.
# Options are handed on, for instance: Scripts/test.sh --filter WakeCoreTests
set -u
cd "$(dirname "$0")/.."

log=$(mktemp)
trap 'rm -f "$log"' EXIT
begun=$(date +%s)

# A pipe hides the status of its first command, so that travels in a file.
{ swift test "$@" 2>&1 </dev/null; echo $? >"$log.status"; } | tee "$log"
status=$(cat "$log.status")
rm -f "$log.status"

# Swift Testing ends with "Test run with 12 tests [in 3 suites] passed after 1.2 seconds."
ran=$(sed -n 's/.*Test run with \([0-9][0-9]*\) tests.* \(passed\|failed\) after.*/\1/p' "$log" | tail -n 1)
skipped=$(grep -c ' skipped' "$log")
took=$(($(date +%s) - begun))

if [ "$status" -eq 0 ] && [ "${ran:-0}" -eq 0 ]; then
    echo "FAIL: no test ran"
    exit 1
elif [ "$status" -ne 0 ]; then
    echo "FAIL: swift test ended with status $status after ${ran:-no} tests, $took s"
    exit "$status"
fi
echo "PASS: $ran tests, $skipped of them skipped, $took s"
