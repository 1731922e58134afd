#!/bin/sh
# Prints what datagrams bring: the bridge holds the socket, which is descriptor 4 here, and wakes this script when one arrives.
while IFS= read -r line; do
    case $line in
    *'"type":"wakebridge.socket.readable"'*)
        # One read is one datagram. socat takes what waits, and ends when nothing has come for a tenth of a second.
        socat -u -T 0.1 FD:4 STDOUT
        ;;
    esac
    case $line in *'"seq":'*) ;; *) continue ;; esac
    seq=${line#*\"seq\":}
    echo "{\"ack\":${seq%%,*}}" >&3
done
