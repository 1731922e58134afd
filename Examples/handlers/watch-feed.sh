#!/bin/sh
# Fetches FEED and prints whether it changed: the bridge asks sooner while there is news, and later while there is none.
jq --unbuffered -r 'select(.type == "wakebridge.poll.due") | .seq' | while read -r seq; do
    if ! curl -fsS -o new "$FEED"; then
        result=failed
    elif cmp -s new feed; then
        result=nothing
    else
        mv new feed && echo "news from $FEED" && result=useful
    fi
    echo "{\"ack\":$seq,\"result\":\"$result\"}" >&3
done
