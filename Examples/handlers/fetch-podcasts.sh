#!/bin/sh
# Hands the episodes of the list in EPISODES over to be received, and logs what became of each.
# One line of the list is a name and an address. What was received is in the state directory.
while read -r name address; do
    echo "{\"transfer\":{\"session\":\"podcasts\",\"id\":\"$name\",\"url\":\"$address\",\"to\":\"$name\"}}" >&3
done <"$EPISODES"
echo '{"ready":true}' >&3
jq --unbuffered -r 'select(.seq) | "\(.seq) \(.type) \(.data.ok) \(.data.why) \(.data.path)"' |
    while read -r seq type ok why path; do
        case $type,$ok in
        wakebridge.transfer.finished,true) echo "$path is here" ;;
        wakebridge.transfer.finished,*) echo "an episode failed: $why" ;;
        wakebridge.transfer.settled,*) echo "all of them have ended" ;;
        esac
        echo "{\"ack\":$seq}" >&3
    done
