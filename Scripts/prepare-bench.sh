#!/bin/sh
# Makes what the benchmark compares with: below .build/bench two small C programs, and a Python environment with the pinned
# parts of requirements.txt. Says what it installs, and nothing while all is well. What cannot be had is left out with a
# reason, which the benchmark prints in the place of the figure.
set -eu
cd "$(dirname "$0")/.."

place=.build/bench
wanted=Tests/Benchmarks/Peers/requirements.txt
probe=Tests/Benchmarks/Probe
mkdir -p "$place"

# Runs a command; its output is shown only if it fails.
quietly() {
    log=$(mktemp)
    status=0
    "$@" >"$log" 2>&1 </dev/null || status=$?
    [ "$status" = 0 ] || cat "$log" >&2
    rm -f "$log"
    return "$status"
}

compile() { # PROGRAM SOURCES...: anew where one of them changed
    program=$place/$1
    shift
    [ -z "$(find "$@" "$probe/include" -newer "$program" 2>&1 | head -n 1)" ] ||
        gcc -O2 -Wall -I "$probe/include" -o "$program" "$@"
}

compile handler Tests/Benchmarks/Peers/handler.c "$probe/handler.c" "$probe/board.c"
compile event Tests/Benchmarks/Peers/event.c "$probe/board.c"

give_up() {
    rm -rf "$place/venv"
    echo "$*" >"$place/reason"
    echo "prepare-bench: $*; pyserial-asyncio is not measured" >&2
    exit 0
}

if ! cmp -s "$wanted" "$place/venv/requirements.txt"; then
    command -v python3 >/dev/null || give_up "there is no python3 here"
    echo "prepare-bench: installing into $place/venv: $(grep -v '^#' "$wanted" | tr '\n' ' ')" >&2
    rm -rf "$place/venv"
    quietly python3 -m venv "$place/venv" || give_up "python3 -m venv failed (Debian: apt-get install python3-venv)"
    quietly "$place/venv/bin/pip" --disable-pip-version-check install --requirement "$wanted" ||
        give_up "pip could not install what $wanted names"
    cp "$wanted" "$place/venv/requirements.txt"
fi
rm -f "$place/reason"
