#!/bin/sh
# Says each morning that it is time for the pills. take-pills.json5 says when, and the alarm's data how many.
while IFS= read -r line; do
    case $line in
    *'"type":"wakebridge.alarm.fired"'*) ;;
    *) continue ;;
    esac
    seq=${line#*\"seq\":} seq=${seq%%,*}
    dose=${line#*\"dose\":} dose=${dose%%[!0-9]*}
    echo "take $dose"
    # Until this the alarm comes again, also after a crash or a power cut.
    echo "{\"ack\":$seq,\"result\":\"useful\"}" >&3
done
