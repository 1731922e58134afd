"""What GPS receivers sent, recorded by others, arrives by a serial line as whole sentences with gpsd's positions."""
import json
import os

from lab import now
from visit import LINE, Visit, profile

HERE = os.path.dirname(os.path.abspath(__file__))
CAPTURES = os.environ.get("WAKEBRIDGE_CAPTURES") or os.path.join(HERE, "../../../../shared/captures")


def run(lab):
    folder = os.path.join(CAPTURES, "serial")
    if not os.path.isdir(folder):
        lab.skip(f"no captures at {folder}; WAKEBRIDGE_CAPTURES says where they are")
        return
    lab.attach(profile("lab-gps", "serial", 0x0A06, serial={"baud": 4800}, framing=LINE, streams={"serial": {
        "name": "nmea", "check": "nmea", "fields": [{"name": "sentence", "type": "utf8"}]}}))
    visit = Visit(lab, lab.gadget("acm", product=0x0A06, title="Receiver"), "lab-gps", "ttyACM*")
    visit.comes()
    for name in sorted(file for file in os.listdir(folder) if file.endswith(".nmea")):
        play(lab, visit, os.path.join(folder, name), name)


def play(lab, visit, path, name):
    with open(path, "rb") as file:
        stream = file.read()
    begun = now()
    # A receiver's bytes come as they come, not as sentences do.
    for place in range(0, len(stream), 50):
        visit.device.say(stream[place:place + 50])
    sentences = stream.split()
    heard = lambda: lab.bridge.of("lab-gps", "data", since=begun)
    lab.eventually(f"{name}: so many events as sentences", lambda: len(heard()) >= len(sentences), 30)
    lab.claim(f"{name}: they are the sentences, whole and in order", [one.raw for one in heard()] == sentences,
              (len(heard()), len(sentences)))
    good = [sentence.decode() for sentence in sentences if is_whole(sentence)]
    decoded = [one.data["value"]["sentence"] for one in heard() if "value" in one.data]
    lab.claim(f"{name}: those with a good checksum are decoded, others say why they are not",
              decoded == good and all(one.data.get("undecodable") for one in heard() if "value" not in one.data),
              [one.data for one in heard() if "value" not in one.data][:2])
    compare(lab, path.removesuffix(".nmea") + ".expected", name, decoded)


def compare(lab, path, name, decoded):
    """Gpsd's readings stand behind the sentence that they came of; a reading keeps the last position that was told."""
    position, wrong, readings, place = None, [], 0, 0
    with open(path) as file:
        for line in file:
            if not line.startswith("{"):
                if is_whole(line.strip().encode()):
                    position = located(decoded[place]) or position if place < len(decoded) else None
                    place += 1
                continue
            reading = json.loads(line)
            if reading["class"] == "TPV" and "lat" in reading:
                readings += 1
                if not position or max(abs(position[0] - reading["lat"]), abs(position[1] - reading["lon"])) > 1e-8:
                    wrong.append((position, reading["lat"], reading["lon"]))
    lab.figure(f"{name}: positions compared with gpsd's", readings)
    lab.claim(f"{name}: every position is gpsd's", not wrong, wrong[:2])
    lab.claim(f"{name}: where gpsd finds none there is none", bool(readings) == bool(position), position)


def is_whole(sentence):
    body, _, check = sentence.removeprefix(b"$").partition(b"*")
    made = 0
    for byte in body:
        made ^= byte
    return check.upper() == b"%02X" % made


def located(sentence):
    """Latitude and longitude in degrees; None for what tells none, or says itself that it is not valid."""
    words = sentence.split("*")[0].split(",")
    kind = words[0][3:]
    if kind == "GGA" and words[6] != "0":
        found = words[2:6]
    elif kind == "RMC" and words[2] == "A":
        found = words[3:7]
    else:
        return None
    degrees = [int(text[:width]) + float(text[width:]) / 60 for text, width in ((found[0], 2), (found[2], 3))]
    return degrees[0] * (-1 if found[1] == "S" else 1), degrees[1] * (-1 if found[3] == "W" else 1)
