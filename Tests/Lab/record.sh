#!/bin/sh
# Makes Devices/heart-rate-monitor again: a strap at training, recorded in the lab by `wakebridge record`, and the events
# that must come of it, written by decoder.py, which shares nothing with the bridge.
set -eu
cd "$(dirname "$0")/../.."

device=Devices/heart-rate-monitor
made=.build/lab/run-beside/recording/recording.trace
LAB_SCENARIOS=recording LAB_RECORDING="${LAB_RECORDING:-90}" LAB_KEEP=1 Scripts/lab.sh
sed '1a # Recorded by "wakebridge record" from a live link in the lab: a strap in software, a real bluetoothd and kernel.' \
    "$made" >"$device/recording.trace"
/usr/bin/python3 Tests/Lab/decoder.py "$device/recording.trace" >"$device/expected.ndjson"
echo "$device: $(wc -l <"$device/expected.ndjson") events; README.md and docs may have to follow"
