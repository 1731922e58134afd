#!/bin/sh
# Writes down each line it gets, and acknowledges it unless it is told to hold it. What it wrote goes with the machine's memory.
mkdir -p /run/keeper
while IFS= read -r line; do
    echo "$line" >>/run/keeper/heard
    [ ! -e /run/keeper/hold ] || continue
    case $line in *'"seq":'*) ;; *) continue ;; esac
    seq=${line#*\"seq\":}
    echo "{\"ack\":${seq%%,*}}" >&3
done
