#!/bin/sh
# Says what it is sent: wakebridge send-message read-messages "hello"
while IFS= read -r line; do
    case $line in *'"seq":'*) ;; *) continue ;; esac
    seq=${line#*\"seq\":} seq=${seq%%,*}
    case $line in
    *'"type":"wakebridge.message.received"'*)
        text=${line#*\"payload\":\"} text=${text%%\"*}
        echo "message: $text" ;;
    *'"type":"wakebridge.device.gap"'*)
        count=${line#*\"count\":} count=${count%%,*}
        echo "$count messages were lost" ;;
    esac
    echo "{\"ack\":$seq}" >&3
done
