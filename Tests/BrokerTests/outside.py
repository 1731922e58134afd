# A client of the broker that has nothing of the bridge's: writes each message that it hears as a line of JSON, and publishes
# what comes as lines on its standard input: TOPIC, a tabulator, PAYLOAD; "retain" before the topic retains it. After "settle" it
# says when the broker has acknowledged all of them.
import json
import sys
import threading

import paho.mqtt.client as mqtt


def hear(client, output, message):
    line = {"topic": message.topic, "payload": message.payload.decode("utf-8", "replace"), "retain": bool(message.retain)}
    output.write(json.dumps(line) + "\n")
    output.flush()


def begin(client, topics):
    if topics:
        client.subscribe([(topic, 1) for topic in topics])
    else:
        say_connected()


def say_connected():
    """Once the broker has its subscriptions: what is published from now on is heard."""
    sys.stdout.write("{\"connected\": true}\n")
    sys.stdout.flush()


def settle(unsettled, acknowledged, published):
    for _ in range(unsettled):
        acknowledged.acquire()
    sys.stdout.write("{\"settled\": %d}\n" % published)
    sys.stdout.flush()


def main():
    options = json.loads(sys.argv[1])
    client = mqtt.Client(client_id=options.get("name", "outside"), userdata=sys.stdout, clean_session=True)
    topics = options["topics"]
    published, settled, acknowledged = 0, 0, threading.Semaphore(0)
    client.on_message = hear
    client.on_publish = lambda client, output, number: acknowledged.release()
    client.on_connect = lambda client, output, flags, code: begin(client, topics)
    client.on_subscribe = lambda client, output, number, granted: say_connected()
    if "user" in options:
        client.username_pw_set(options["user"], options["password"])
    if "authority" in options:
        client.tls_set(ca_certs=options["authority"])
    client.reconnect_delay_set(1, 1)
    client.connect(options.get("host", "localhost"), options["port"], keepalive=600)
    client.loop_start()
    for line in sys.stdin:
        words = line.rstrip("\n").split("\t", 2)
        if words == ["settle"]:
            settle(published - settled, acknowledged, published)
            settled = published
            continue
        is_retained = words[0] == "retain"
        topic, payload = words[-2:] if len(words) > 1 else (words[0], "")
        client.publish(topic, payload, 1, is_retained)
        published += 1
    client.loop_stop()


main()
