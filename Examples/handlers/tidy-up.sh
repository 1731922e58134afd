#!/bin/sh
# Packs the logs in FOLDER when the machine is idle. Each one that is packed is progress, and gives it a minute more.
jq --unbuffered -r 'select(.type == "wakebridge.job.due") | .seq' | while read -r seq; do
    packed=0
    for file in "$FOLDER"/*.log; do
        [ -f "$file" ] && gzip -f "$file" || continue
        packed=$((packed + 1))
        echo "{\"progress\":$seq,\"done\":$packed}" >&3
    done
    echo "packed $packed"
    echo "{\"ack\":$seq}" >&3
done
