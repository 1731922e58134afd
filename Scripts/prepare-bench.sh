#!/bin/sh
# Makes what the benchmark compares with: below .build/bench two small C programs, and a Python environment with the pinned
# parts of requirements.txt. Says what it installs, and nothing while all is well. What cannot be had is left out with a
# reason, which the benchmark prints in the place of the figure.
set -eu
cd "$(dirname "$0")/.."

place=.build/bench
loss="pyserial-asyncio and bleak are not measured"
. Scripts/preparing.sh
in_turn "$@"

probe=Tests/Benchmarks/Probe
mkdir -p "$place"

compile() { # PROGRAM SOURCES...: again where one of them changed
    program=$place/$1
    shift
    [ -z "$(find "$@" "$probe/include" -newer "$program" 2>&1 | head -n 1)" ] ||
        gcc -O2 -Wall -I "$probe/include" -o "$program" "$@"
}

compile handler Tests/Benchmarks/Peers/handler.c "$probe/handler.c" "$probe/board.c"
compile event Tests/Benchmarks/Peers/event.c "$probe/board.c"

make_venv Tests/Benchmarks/Peers/requirements.txt python3
rm -f "$place/reason"
