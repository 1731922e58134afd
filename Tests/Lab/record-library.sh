#!/bin/sh
# Makes the recordings of the device library again: each device is played by its published messages (vectors.json5), and
# recorded by `wakebridge record`; accessories by umockdev on this machine, all that is on Bluetooth in the lab. Beside each
# stands what `wakebridge replay` makes of it now: read the difference before you keep it.
#
#   record-library.sh [NAME ...]: these folders only
#
# Wants root, umockdev, the lab, and what was built; LAB_PROGRAMS says where that is. The strap and the receiver have scripts
# of their own.
set -eu
cd "$(dirname "$0")/../.."

programs=$(readlink -f "${LAB_PROGRAMS:-.build/debug}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
own='heart-rate-monitor\|gps-receiver'

of_kind() { # KINDS NAME ...: those of them
    /usr/bin/python3 Tests/Lab/published.py "$@" | grep -vx "$own" || true
}

keep() { # FOLDER: what was recorded there
    for trace in "$1"/*.trace; do
        [ -e "$trace" ] || return 0
        device=Devices/$(basename "$trace" .trace)
        sed '2i # A device played by its published messages (vectors.json5), recorded by "wakebridge record".' "$trace" \
            >"$device/recording.trace"
        # With the one profile it begins sooner.
        rm -rf "$work/one"
        mkdir "$work/one"
        ln -s "$PWD/Devices/gatt" "$PWD/$device" "$work/one"
        WAKEBRIDGE_DEVICES=$work/one "$programs/wakebridge" replay "$device/recording.trace" --speed max \
            >"$device/expected.ndjson"
        echo "$device: $(wc -l <"$device/expected.ndjson") events"
    done
}

accessories=$(of_kind accessory "$@")
if [ -n "$accessories" ]; then
    mkdir -p "$work/config/handlers.d"
    # shellcheck disable=SC2086  # a list of words
    /usr/bin/python3 Tests/Lab/accessories.py "$programs" "$work" $accessories >"$work/story"
    driver=Tests/TestBench/devices.py
    WAKEBRIDGE_DEVICES=$work/Devices DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent unshare --mount --net \
        sh -c "mount -t tmpfs tmpfs /run && exec umockdev-wrapper /usr/bin/python3 $driver <$work/story" >"$work/said" ||
        { cat "$work/said" >&2; exit 1; }
    keep "$work"
fi

# An air of its own for each: classic Bluetooth wants another radio.
for kinds in peripheral,broadcaster logger; do
    radios=$(of_kind "$kinds" "$@")
    [ -n "$radios" ] || continue
    folder=${LAB_FOLDER:-$PWD/.build/lab/run}
    # What failed there is said, and the others are kept.
    # shellcheck disable=SC2086,SC2116  # words apart by single spaces
    LAB_SCENARIOS=library LAB_RECORDING=$(echo $radios) LAB_KEEP=1 LAB_FOLDER=$folder Scripts/lab.sh || echo "not all came"
    keep "$folder"
done
