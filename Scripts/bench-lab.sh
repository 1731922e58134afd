#!/bin/sh
# The benchmark's figures of Bluetooth: a notification to bleak and to a frozen handler, side by side, in the lab's virtual
# machine, with the programs as `make install` builds them. Prints what was found; asserts nothing.
set -eu
cd "$(dirname "$0")/.."

if [ -s .build/lab/reason ]; then
    echo "bench-lab: $(cat .build/lab/reason)" >&2
    exit 1
fi
place=$(pwd -P)/.build/bench/lab
status=0
# A daemon in service says little, and neither must this one.
LAB_FOLDER="$place" LAB_SCENARIOS=beside-bleak LAB_KEEP=1 LAB_LIMIT="${LAB_LIMIT:-600}" WAKEBRIDGE_LOG=notice \
    Scripts/lab.sh >&2 || status=$?
[ ! -f "$place/report" ] || sed -n 's/^FIGURE: /  /p; s/^NOT-YET: /  not met: /p; s/^PASS: /  holds: /p; s/^FAIL: /  FAILED: /p; s/^LATE: /  LATE: /p; s/^LOST: /  LOST: /p; s/^AGAIN /  PLAYED AGAIN: /p' "$place/report"
[ "$status" = 0 ] || echo "bench-lab: the guest ended with $status; see $place/out and $place/console" >&2
exit "$status"
