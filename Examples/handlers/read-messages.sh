#!/bin/sh
# Prints each message that it is sent: wakebridge send-message read-messages "hello"
jq --unbuffered -r 'select(.seq) | "\(.seq) \(.type) \(.data.count) \(.data.payload // .data.raw // "" | gsub("\n"; " "))"' |
    while read -r seq type count text; do
        case $type in
        wakebridge.message.received) printf 'message: %s\n' "$text" ;;
        wakebridge.device.gap) echo "$count messages were lost" ;;
        esac
        echo "{\"ack\":$seq}" >&3
    done
