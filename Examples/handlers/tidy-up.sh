#!/bin/sh
# Packs the logs in FOLDER when the machine is idle. Each one that is packed is progress, and gives it a minute more.
while IFS= read -r line; do
    case $line in
    *'"type":"wakebridge.job.due"'*) ;;
    *) continue ;;
    esac
    seq=${line#*\"seq\":} seq=${seq%%,*}
    packed=0
    for file in "$FOLDER"/*.log; do
        [ -f "$file" ] && gzip -f "$file" || continue
        packed=$((packed + 1))
        echo "{\"progress\":$seq,\"done\":$packed}" >&3
    done
    echo "packed $packed"
    echo "{\"ack\":$seq}" >&3
done
