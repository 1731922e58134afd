#!/bin/sh
# Hands the episodes of the list in EPISODES over to be received, and says what became of each.
# One line of the list is a name and an address. What was received lies in the state directory.
while read -r name address; do
    echo "{\"transfer\":{\"session\":\"podcasts\",\"id\":\"$name\",\"url\":\"$address\",\"to\":\"$name\"}}" >&3
done <"$EPISODES"
echo '{"ready":true}' >&3
while IFS= read -r line; do
    case $line in
    *'"seq":'*) ;;
    *) continue ;;
    esac
    seq=${line#*\"seq\":} seq=${seq%%,*}
    case $line in
    *'transfer.finished"'*'"ok":true'*) path=${line##*\"path\":\"} && echo "${path%%\"*} is here" ;;
    *'transfer.finished"'*) why=${line##*\"why\":\"} && echo "an episode failed: ${why%%\"*}" ;;
    *'transfer.settled"'*) echo "all of them have ended" ;;
    esac
    echo "{\"ack\":$seq}" >&3
done
