#!/bin/sh
# Counts heart beats, and shows all that a handler needs: read lines on stdin, answer on descriptor 3, log on stdout.
# Try it without a bridge: cat Devices/heart-rate-monitor/expected.ndjson | sh Examples/handlers/count-beats.sh 3>/dev/null

beats=0
while IFS= read -r line; do
    # Only what has a seq wants an acknowledgement; the bridge writes it before the data, without spaces.
    case $line in
    *'"seq":'*) seq=${line#*\"seq\":} seq=${seq%%,*} ;;
    *) continue ;;
    esac
    case $line in
    *'"type":"wakebridge.device.data"'*'"characteristic":"2a37"'*)
        beats=$((beats + 1))
        bpm=${line#*\"bpm\":} bpm=${bpm%%[!0-9]*}
        case $line in
        *'"contact":false'*) echo "beat $beats: no contact with the skin" ;;
        *) echo "beat $beats: ${bpm:-unknown} bpm" ;;
        esac
        ;;
    esac
    # An acknowledgement says: done with this event and every one before it.
    echo "{\"ack\":$seq}" >&3
done
