#!/bin/sh
# Prints what datagrams bring: the bridge holds the socket, which is descriptor 4 here, and wakes this script when one arrives.
while IFS= read -r line; do
    case $line in
    *'"type":"wakebridge.socket.readable"'*)
        # Each dd reads one datagram. The first that finds none fails, for reads of this socket wait for nothing.
        while dd bs=65536 count=1 <&4 2>/dev/null; do :; done
        ;;
    esac
    case $line in *'"seq":'*) ;; *) continue ;; esac
    seq=${line#*\"seq\":}
    echo "{\"ack\":${seq%%,*}}" >&3
done
