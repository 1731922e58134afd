#!/bin/sh
# Makes Devices/gps-receiver again: a made-up receiver on a made-up socket, recorded by `wakebridge record`, and the events
# that must come of it, written by decoder.py, which shares nothing with the bridge. Wants root, umockdev, and what was
# built; LAB_PROGRAMS says where that is.
set -eu
cd "$(dirname "$0")/../.."

device=Devices/gps-receiver
programs=${LAB_PROGRAMS:-.build/debug}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
socket=/sys/devices/pci0000:00/0000:00:14.0/usb1/1-2
tool="$programs/wakebridge --runtime $work/run"
mkdir -p "$work/config/handlers.d"

cat >"$work/devices" <<TEXT
P: /devices/pci0000:00/0000:00:14.0/usb1
E: SUBSYSTEM=usb
E: DEVTYPE=usb_device
E: TYPE=9/0/1
A: idVendor=1d6b
A: idProduct=0002

P: ${socket#/sys}
E: SUBSYSTEM=usb
E: DEVTYPE=usb_device
A: idVendor=1546
A: idProduct=01a7
A: product=u-blox 7 - GPS/GNSS Receiver

P: ${socket#/sys}/1-2:1.0
E: SUBSYSTEM=usb
E: DEVTYPE=usb_interface
A: bInterfaceNumber=00

TEXT
cat >"$work/story" <<TEXT
load $work/devices
ready c166:0 1000
line /dev/ttyACM0
device tty ttyACM0 $socket/1-2:1.0 DEVNAME=/dev/ttyACM0 MAJOR=166 MINOR=0
beside $programs/wakebridged --no-bluetooth --config $work/config --state $work/state --runtime $work/run
until connected $tool devices
run $tool pair /dev/ttyACM0 --alias gps
beside $tool record gps -o $work/recording.trace
until connect cat $work/recording.trace
pause 1
voice /dev/ttyACM0 /usr/bin/python3 Tests/Lab/receiver.py ${LAB_RECORDING:-30}
pause 0.5
remove $socket/1-2:1.0/ttyACM0
until disconnect cat $work/recording.trace
signal INT record
TEXT
export WAKEBRIDGE_DEVICES=$PWD/Devices DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent
driver=Tests/TestBench/devices.py
unshare --mount --net sh -c "mount -t tmpfs tmpfs /run && exec umockdev-wrapper /usr/bin/python3 $driver <$work/story" \
    >"$work/said" || { cat "$work/said" >&2; exit 1; }
head='# Recorded by "wakebridge record" from an open serial line: a receiver in software, whose place, sky and walk are invented.'
sed "1a $head" "$work/recording.trace" >"$device/recording.trace"
/usr/bin/python3 Tests/Lab/decoder.py "$device/recording.trace" >"$device/expected.ndjson"
echo "$device: $(wc -l <"$device/expected.ndjson") events; README.md and docs may have to follow"
