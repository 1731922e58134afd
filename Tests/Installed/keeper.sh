#!/bin/sh
# Writes down each line it gets, and acknowledges it unless it is told to hold it; those stand in `held` too. What it wrote goes with
# the machine's memory.
mkdir -p /run/keeper
while IFS= read -r line; do
    echo "$line" >>/run/keeper/heard
    if [ -e /run/keeper/hold ]; then
        echo "$line" >>/run/keeper/held
        continue
    fi
    case $line in *'"seq":'*) ;; *) continue ;; esac
    seq=${line#*\"seq\":}
    echo "{\"ack\":${seq%%,*}}" >&3
done
