#!/bin/sh
# Builds and runs the tests, and ends with one line that says how it went; the status says it too. First what needs no
# clock of its own, all at once; then what measures real processes, one test at a time, because tests that compete for the
# processor would measure each other; what counts system calls, of which who comes late needs more; what counts descriptors
# or waits for one to be closed, which a process that another test starts meanwhile may hold; and what expects that nothing
# happens in a folder that others write to.
# Options are handed on to a single run: Scripts/test.sh --filter X
# `Scripts/test.sh units` runs the first part only.
# TEST_SILENCE is for how many seconds no test may say anything (900); TEST_BUILD is options of `swift build`.
set -u
# Under sudo the tool would run the handlers of tests as another user than the daemon's.
unset SUDO_UID
cd "$(dirname "$0")/.."

alone='^((WakeSourcesTests|EndToEndTests|DaemonTests|TortureTests|BreakTests|HostileTests|LabTests)\.'
alone="$alone"'|CountedTests\.CallTests/|WakeSystemTests\.NodeClosingTests/|WakeLoopTests\.SystemBusTests/|WakeControlTests\.ControlServerTests/descriptors)'
silence=${TEST_SILENCE:-900}
log=$(mktemp)
trap 'rm -f "$log" "$log.status" "$log.process"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
begun=$(date +%s)
failed=0

# The bundle is run without `swift test`, which holds back what is said until it fills a page: where a test waits for ever,
# nobody would know which.
run() { # options of Swift Testing
    rm -f "$log.status"
    guard &
    watcher=$!
    # A pipe hides the status of its first command, so that travels in a file.
    {
        sh -c 'echo $$ >"$0"; exec "$@"' "$log.process" "$bundle" --testing-library swift-testing "$@" 2>&1 </dev/null
        echo $? >"$log.status"
    } | tee -a "$log"
    wait "$watcher"
    [ "$(cat "$log.status")" -eq 0 ] || failed=1
}

# A run whose tests wait for ever is ended, and which test that is stands at the end.
guard() {
    while sleep 1 && kill -0 $$ 2>/dev/null && [ -e "$log" ] && [ ! -s "$log.status" ]; do
        quiet=$(($(date +%s) - $(stat -c %Y "$log")))
        [ "$quiet" -ge "$silence" ] || continue
        ps -eo pid,ppid,stat,etime,wchan:20,args --forest | cut -c 1-200 | tail -n 80
        grep '◇ Test ' "$log" | tail -n 1
        echo "test.sh: no test has said anything for $quiet s, so they are ended; above is what runs here, and what began last"
        kill -s KILL "$(cat "$log.process")"
        return
    done
}

# shellcheck disable=SC2086 # these are several words
swift build ${TEST_BUILD:-} --build-tests </dev/null || { echo "FAIL: the tests were not built"; exit 1; }
# shellcheck disable=SC2086
bundle=$(swift build ${TEST_BUILD:-} --show-bin-path)/wakebridgePackageTests.xctest
export NO_COLOR=1 # what is looked for below has none
if [ "$*" = units ]; then
    run --parallel --skip "$alone"
elif [ $# -gt 0 ]; then
    run "$@"
else
    run --parallel --skip "$alone"
    run --no-parallel --filter "$alone"
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
