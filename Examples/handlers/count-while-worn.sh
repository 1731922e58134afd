#!/bin/sh
# Counts the beats of each time that a strap is worn. While its data flows, this script is not frozen between two beats.
beats=0
while IFS= read -r line; do
    case $line in
    *'"seq":'*) seq=${line#*\"seq\":} seq=${seq%%,*} ;;
    *) continue ;;
    esac
    case $line in
    *'"type":"wakebridge.flow.started"'*)
        # It gets no answer: an acknowledgement would end the flow.
        beats=0
        continue
        ;;
    *'"type":"wakebridge.device.data"'*) beats=$((beats + 1)) ;;
    *'"type":"wakebridge.flow.ended"'* | *'"type":"wakebridge.flow.interrupted"'*) echo "worn for $beats beats" ;;
    esac
    echo "{\"ack\":$seq}" >&3
done
