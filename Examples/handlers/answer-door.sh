#!/bin/sh
# Prints what datagrams bring: the bridge holds the socket, which is descriptor 4 here, and wakes this script when one arrives.
jq --unbuffered -r 'select(.seq) | "\(.seq) \(.type)"' | while read -r seq type; do
    if [ "$type" = wakebridge.socket.readable ]; then
        # Each dd reads one datagram. The first that finds none fails, for reads of this socket wait for nothing.
        while dd bs=65536 count=1 <&4 2>/dev/null; do :; done
    fi
    echo "{\"ack\":$seq}" >&3
done
