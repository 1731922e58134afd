"""Has one file received, and writes down what it is told of that."""
import json
import os
import sys

book = open(os.path.join(os.environ["WAKEBRIDGE_STATE_DIR"], "heard"), "a", buffering=1)


def say(line):
    os.write(3, json.dumps(line).encode() + b"\n")


say({"transfer": {"session": "books", "id": "1", "url": "http://127.0.0.1:8017/1", "to": "book"}})
say({"ready": True})
for line in sys.stdin:
    event = json.loads(line)
    if "seq" in event:
        book.write(f"{event['type']} {event['data'].get('why', 'well')}\n")
        say({"ack": event["seq"]})
