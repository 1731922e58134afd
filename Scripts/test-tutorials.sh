#!/bin/sh
# Builds the Debian package and follows the tutorials to the letter in a fresh Debian 12 and a fresh Debian 13 that are booted for it;
# then prints what the package costs there. `test-tutorials.sh footprint` prints that alone.
# Needs root, and a mirror of Debian that apt knows. Debian 12 has no Swift in apt: there this machine's own is lent.
set -eu
cd "$(dirname "$0")/.."
. Scripts/debian.sh

place=$PWD/.build/tutorials
pages="docs/tutorials/install-on-a-raspberry-pi.md docs/tutorials/your-first-strap.md docs/tutorials/from-corebluetooth.md"

check_machine "boot a Debian of its own"
since=$(date +%s)
built=$(Scripts/deb.sh | tail -n 1)
took "the package"
for suite in bookworm trixie; do
    # Kept as it was made: what a run writes lies in a layer over it.
    [ -x "$place/$suite/usr/bin/sudo" ] || make_debian "$suite" "$place/$suite" --variant=apt --include=ca-certificates,dbus,sudo,systemd-sysv
    # shellcheck disable=SC2086  # a list of pages
    [ "${1:-}" = footprint ] || python3 Scripts/follow.py "$place/$suite" "$built" $pages
    python3 Scripts/footprint.py "$place/$suite" "$built"
    took "$suite"
done
echo "PASS: the tutorials work as they say on Debian 12 and 13"
