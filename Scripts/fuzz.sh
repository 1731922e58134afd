#!/bin/sh
# Fuzzes every reader of bytes from outside, each for a bounded time, and ends with one line: `make fuzz`.
# Scripts/fuzz.sh [READER...]
# FUZZ_SECONDS (60) is how long each is fuzzed, FUZZ_SEED (1) what chance is drawn from, FUZZ_JOBS how many run side by side.
# An input that ends a reader is kept in .build/fuzzed/crashes, and is read first the next time. A line names the place to commit it to.
set -u
cd "$(dirname "$0")/.." || exit 1

: "${FUZZ_SECONDS:=60}" "${FUZZ_SEED:=1}" "${FUZZ_JOBS:=$(nproc)}" "${WAKEBRIDGE_CAPTURES:=$PWD/../shared/captures}"
export FUZZ_SECONDS FUZZ_SEED WAKEBRIDGE_CAPTURES
scratch=.build/fuzz
work=.build/fuzzed
list=$work/readers

# What libFuzzer does beside reading is in an archive of the toolchain, which brings no `main` of its own.
build() {
    resources=$(swiftc -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
    archive=$(find -L "$resources/clang" -name 'libclang_rt.fuzzer_no_main*.a' 2>/dev/null | grep -e "$(uname -m)" | head -n 1)
    [ -n "$archive" ] || { echo "fuzz.sh: this Swift brings no libFuzzer: there is no libclang_rt.fuzzer_no_main" >&2; return 1; }
    ! [ -x "$resources/../../bin/ld.lld" ] && ! command -v ld.lld >/dev/null || set -- -Xswiftc -use-ld=lld
    set -- -c release --sanitize=address --disable-dead-strip --scratch-path "$scratch" "$@" \
        -Xswiftc -sanitize-coverage=edge,indirect-calls,trace-cmp,inline-8bit-counters,pc-table \
        -Xlinker -u -Xlinker LLVMFuzzerRunDriver -Xlinker "$archive" -Xlinker -lstdc++
    WAKEBRIDGE_FUZZ=1 swift build "$@" --product Fuzz </dev/null >&2 || return 1
    program=$(WAKEBRIDGE_FUZZ=1 swift build "$@" --show-bin-path)/Fuzz
}

# The seeds, the inputs that once ended it, the files that it names and what it makes; of long files the beginning.
begin_corpus() { # READER PATTERN...
    reader=$1
    shift
    corpus=$work/corpus/$reader
    mkdir -p "$corpus"
    set -- "Tests/Fuzz/seeds/$reader/*" "Tests/Fuzz/crashes/$reader/*" "$work/crashes/$reader/*" "$@"
    "$FUZZ_PROGRAM" begin "$reader" "$corpus" || echo "fuzz.sh: $reader begins without what it makes" >&2
    # A pattern becomes names, however they are spelled.
    IFS=
    for pattern in "$@"; do
        case $pattern in captures/*) pattern=$WAKEBRIDGE_CAPTURES/${pattern#captures/} ;; esac
        # shellcheck disable=SC2086 # without quotes, so that it does
        for file in $pattern; do
            [ ! -f "$file" ] || head -c 32768 "$file" >"$corpus/$(echo "$file" | cksum | cut -d ' ' -f 1)"
        done
    done
}

statistic() { # NAME LOG: of libFuzzer's last lines
    sed -n "s/^stat::$1: *//p" "$2" | tail -n 1
}

# One reader, until the time is over or an input ends it.
fuzz() { # READER PATTERN...
    begin_corpus "$@"
    found=$work/found/$reader
    log=$work/$reader.log
    rm -rf "$found"
    mkdir -p "$found"
    FUZZ_TARGET=$reader "$FUZZ_PROGRAM" -seed="$FUZZ_SEED" -max_total_time="$FUZZ_SECONDS" -max_len=32768 -timeout=20 \
        -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$found/" "$corpus" >"$log" 2>&1 </dev/null
    status=$?
    crashes=$(find "$found" -type f ! -name 'slow-unit-*' | wc -l)
    printf '%-22s seed %s  %9s executions  %7s/s  corpus %5s  crashes %s\n' "$reader" "$FUZZ_SEED" \
        "$(statistic number_of_executed_units "$log")" "$(statistic average_exec_per_sec "$log")" \
        "$(find "$corpus" -type f | wc -l)" "$crashes"
    [ "$crashes" = 0 ] || keep
    [ "$status" = 0 ] || { echo "fuzz.sh: $reader ended with status $status; $log says why" >&2; return 1; }
}

keep() {
    kept=$work/crashes/$reader
    mkdir -p "$kept"
    find "$found" -type f ! -name 'slow-unit-*' -exec cp {} "$kept" \;
    echo "fuzz.sh: $reader was ended by an input, which is kept in $kept; commit it with the fix, in Tests/Fuzz/crashes/$reader" >&2
}

# Started by this script itself, once for each reader.
if [ "${1-}" = one ]; then
    shift
    set -f
    # shellcheck disable=SC2046 # a line of the list is several words
    set -- $(grep "^$1\( \|\$\)" "$list")
    set +f
    fuzz "$@"
    exit
fi

begun=$(date +%s)
mkdir -p "$work"
build || { echo "FAIL: the fuzzer was not built"; exit 1; }
export FUZZ_PROGRAM="$program"
# Swift's own handler of crashes reads memory in a way that the address sanitizer takes for a fault.
export SWIFT_BACKTRACE=enable=no ASAN_OPTIONS="detect_leaks=0:quarantine_size_mb=16"
"$program" list >"$list" || { echo "FAIL: the fuzzer does not start"; exit 1; }
for reader in "$@"; do
    grep -q "^$reader\( \|\$\)" "$list" || { echo "FAIL: there is no reader named \"$reader\"; see $list"; exit 2; }
done
[ $# -gt 0 ] || set -- $(cut -d ' ' -f 1 "$list")
printf '%s\n' "$@" | xargs -P "$FUZZ_JOBS" -n 1 Scripts/fuzz.sh one
status=$?
took=$(($(date +%s) - begun))
[ "$status" = 0 ] || { echo "FAIL: $# readers fuzzed for $FUZZ_SECONDS s each, with seed $FUZZ_SEED, $took s; see above"; exit 1; }
echo "PASS: $# readers fuzzed for $FUZZ_SECONDS s each, with seed $FUZZ_SEED, $took s"
