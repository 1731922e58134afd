#!/bin/sh
# Runs tests under sanitizers, each with a build of its own, and ends with one line: `address`, which also looks for undefined
# behaviour in what is written in C, and `thread`.
# Scripts/sanitize.sh [address] [thread]
# SANITIZE_TESTS is a regular expression of other tests to run, such as '^(Daemon|EndToEnd)Tests\.'
set -u
cd "$(dirname "$0")/.." || exit 1

# The daemon as a whole (Daemon, EndToEnd, Torture, Break, Lab) stays out: its tests reckon with real time and with how much of
# it an event takes, which on a busy machine a sanitizer makes too much now and then.
units='WakeModel|WakeCore|WakeProfiles|WakeTrace|WakeHCI|WakeCapture|WakePairing|WakeLoop|WakeJournal|WakeSystem|WakeControl|WakeSources|WakeDaemon|WakeHandler'
tests=${SANITIZE_TESTS:-"^($units|WakeDoctor|CommandLine)Tests\."}
# What measures resident memory sees mostly the sanitizer's, and what leaves a program one thread leaves none for the sanitizer.
left_out='^(WakeHandlerTests\.ThreadTests|WakeSourcesTests\.SourceTests/leavesNothing|EndToEndTests\.(EnduranceTests/staysFlat|InvariantTests/isolates))'
begun=$(date +%s)
failed=""

choose() { # SANITIZER: how it builds, the faults that it must see, and where it reports
    case $1 in
        address) TEST_BUILD="--sanitize=address -Xcc -fsanitize=undefined" planted="freed-c freed-swift overflow-c" ;;
        thread) TEST_BUILD="--sanitize=thread" planted="race-c race-swift" ;;
        *) echo "FAIL: there is no sanitizer named \"$1\", only address and thread"; exit 2 ;;
    esac
    export TEST_BUILD="$TEST_BUILD --scratch-path .build/$1"
    # Reports go into files: a test may keep to itself what a process that it started says, and all of them count. They are
    # written by processes of other users too.
    reports=$PWD/.build/$1/reports
    rm -rf "$reports"
    mkdir -p "$reports"
    chmod 1777 "$reports"
    # What a library keeps until the process ends is no leak of ours. The less freed memory is held back, the sooner a
    # process is copied to start another.
    ASAN_OPTIONS="detect_leaks=0:quarantine_size_mb=64:log_path='$reports/report'"
    UBSAN_OPTIONS="print_stacktrace=1:log_path='$reports/report'"
    TSAN_OPTIONS="suppressions='$PWD/Scripts/sanitize.thread.txt':log_path='$reports/report'"
    # Swift's own handler of crashes reads memory in a way that the address sanitizer takes for a fault.
    SWIFT_BACKTRACE=enable=no
    export ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS SWIFT_BACKTRACE
}

reported() { find "$reports" -type f -size +0 | grep -q .; }

# A detector that says nothing is believed only after it has seen faults that were made on purpose.
sees() { # FAULT...
    # shellcheck disable=SC2086 # these are several words
    swift build $TEST_BUILD --product Planted </dev/null || return 1
    # shellcheck disable=SC2086
    program=$(swift build $TEST_BUILD --show-bin-path)/Planted
    for fault in "$@"; do
        "$program" "$fault" >/dev/null 2>&1
        reported || { echo "sanitize.sh: the sanitizer did not see the planted fault $fault"; return 1; }
        rm -f "$reports"/*
    done
    echo "sanitize.sh: the sanitizer sees: $*"
}

for sanitizer in ${*:-address thread}; do
    choose "$sanitizer"
    # shellcheck disable=SC2086
    sees $planted && Scripts/test.py --no-parallel --filter "$tests" --skip "$left_out" || failed="$failed $sanitizer"
    if reported; then
        cat "$reports"/*
        failed="$failed $sanitizer(reports)"
    fi
done
took=$(($(date +%s) - begun))
[ -z "$failed" ] || { echo "FAIL: under the sanitizers, $took s:$failed"; exit 1; }
echo "PASS: the tests under the sanitizers ${*:-address thread}, $took s"
