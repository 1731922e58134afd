#!/bin/sh
# Counts the beats of each time that a strap is worn. While its data flows, this script is not frozen between two beats.
beats=0
jq --unbuffered -r 'select(.seq) | "\(.seq) \(.type)"' | while read -r seq type; do
    case $type in
    wakebridge.flow.started)
        # It gets no answer: an acknowledgement would end the flow.
        beats=0
        continue
        ;;
    wakebridge.device.data) beats=$((beats + 1)) ;;
    wakebridge.flow.ended | wakebridge.flow.interrupted) echo "worn for $beats beats" ;;
    esac
    echo "{\"ack\":$seq}" >&3
done
