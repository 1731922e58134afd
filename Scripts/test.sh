#!/bin/sh
# Builds and runs the tests through `swift test`, and ends with one line that says how it went; the status says it too.
# First what needs no clock of its own, all at once; then what measures real processes, one test at a time, because tests
# that compete for the processor would measure each other, and what counts descriptors or waits for one to be closed, which
# a process that another test starts meanwhile may hold. Options are handed on to a single run: Scripts/test.sh --filter X
set -u
cd "$(dirname "$0")/.."

alone='^((WakeSourcesTests|EndToEndTests|DaemonTests|TortureTests|LabTests)\.'
alone="$alone"'|WakeSystemTests\.NodeClosingTests/|WakeControlTests\.ControlServerTests/descriptors)'
log=$(mktemp)
trap 'rm -f "$log" "$log.status"' EXIT
begun=$(date +%s)
failed=0

run() { # swift test's options
    # A pipe hides the status of its first command, so that travels in a file.
    { swift test "$@" 2>&1 </dev/null; echo $? >"$log.status"; } | tee -a "$log"
    [ "$(cat "$log.status")" -eq 0 ] || failed=1
}

if [ $# -gt 0 ]; then
    run "$@"
else
    run --skip "$alone"
    run --skip-build --no-parallel --filter "$alone"
fi

# Swift Testing ends with "Test run with 12 tests [in 3 suites] passed after 1.2 seconds."
ran=$(sed -n 's/.*Test run with \([0-9][0-9]*\) tests\{0,1\} .*\(passed\|failed\) after.*/\1/p' "$log" | awk '{ n += $1 } END { print n + 0 }')
skipped=$(grep -c '➜ .* skipped' "$log")
broken=$(grep '✘ Test .* failed after' "$log" | grep -cv '✘ Test run with')
[ ! -s .build/lab/reason ] || echo "SKIPPED: the lab: $(cat .build/lab/reason)"
took=$(($(date +%s) - begun))

if [ "$ran" -eq 0 ]; then
    echo "FAIL: no test ran"
    exit 1
elif [ "$failed" -ne 0 ]; then
    # What failed stands thousands of lines above, and some readers are shown the end only.
    grep -A 3 '✘ Test .* recorded an issue' "$log" | grep -v '^--$' | cut -c 1-400 | tail -n 60
    grep '✘ Test .* failed after' "$log"
    echo "FAIL: $broken of $ran tests failed, $took s"
    exit 1
fi
echo "PASS: $ran tests, $skipped of them skipped, $took s"
