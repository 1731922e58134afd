#!/bin/sh
# Prints each morning that it is time for the pills. take-pills.json5 has the time, and the alarm's data has how many.
jq --unbuffered -r 'select(.type == "wakebridge.alarm.fired") | "\(.seq) \(.data.data.dose)"' | while read -r seq dose; do
    echo "take $dose"
    # Until this the alarm comes again, also after a crash or a power cut.
    echo "{\"ack\":$seq,\"result\":\"useful\"}" >&3
done
