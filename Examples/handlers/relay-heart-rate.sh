#!/bin/sh
# Hands a strap's heart rate on: a watch, a phone and a bike computer find it as a strap of its own, all at once.
# The bytes of the strap are those of the service, so they go on as they are.
jq --unbuffered -r 'select(.seq) | "\(.seq) \(.type) \(.data.characteristic) \(.data.raw) \(.data.central)"' |
    while read -r seq type characteristic raw central; do
        case $type-$characteristic in
        wakebridge.device.data-2a37) echo "{\"serve\":{\"characteristic\":\"2a37\",\"hex\":\"$raw\"}}" >&3 ;;
        wakebridge.peripheral.subscribed-*) echo "$central listens" ;;
        wakebridge.peripheral.unsubscribed-*) echo "$central has gone" ;;
        esac
        echo "{\"ack\":$seq}" >&3
    done
