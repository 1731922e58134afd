#!/bin/sh
# The benchmark's figures of Bluetooth: a notification to bleak and to a frozen handler, side by side, in the lab's virtual
# machine, with the programs as `make install` builds them. Prints what was found; asserts nothing.
set -eu
cd "$(dirname "$0")/.."

if [ -s .build/lab/reason ]; then
    echo "bench-lab: $(cat .build/lab/reason)" >&2
    exit 1
fi
for program in wakebridged wakebridge; do
    Scripts/release.sh --product "$program" >&2
done

place=$PWD/.build/bench/lab
rm -rf "$place"
mkdir -p "$place"
# A daemon in service says little, and neither must this one.
python=$PWD/.build/lab/venv/bin/python
command="env LAB_KEEP=1 WAKEBRIDGE_LOG=notice $python $PWD/Tests/Lab/guest.py $place $PWD/.build/static/release beside-bleak"
status=0
Tests/Lab/machine.sh -t "${LAB_LIMIT:-600}" "$place" "$command" || status=$?
[ ! -f "$place/report" ] || sed -n 's/^FIGURE: /  /p; s/^NOT-YET: /  not met: /p; s/^PASS: /  holds: /p; s/^FAIL: /  FAILED: /p; s/^LATE: /  LATE: /p; s/^LOST: /  LOST: /p; s/^AGAIN /  PLAYED AGAIN: /p' "$place/report"
[ "$status" = 0 ] || echo "bench-lab: the guest ended with $status; see $place/out and $place/console" >&2
exit "$status"
