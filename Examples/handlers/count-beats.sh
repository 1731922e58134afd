#!/bin/sh
# Counts heart beats, and shows all that a handler needs: read lines on stdin, answer on descriptor 3, log on stdout.
# Try it without a bridge: cat Devices/heart-rate-monitor/expected.ndjson | sh Examples/handlers/count-beats.sh 3>/dev/null

# jq makes a line of three words of each event. Only an event with a seq wants an acknowledgement.
beats=0
jq --unbuffered -r 'select(.seq) | "\(.seq) \(.data.value.bpm) \(.data.value.contact)"' | while read -r seq bpm contact; do
    if [ "$bpm" != null ]; then
        beats=$((beats + 1))
        case $contact in
        false) echo "beat $beats: no contact with the skin" ;;
        *) echo "beat $beats: $bpm bpm" ;;
        esac
    fi
    # An acknowledgement covers this event and every one before it.
    echo "{\"ack\":$seq}" >&3
done
