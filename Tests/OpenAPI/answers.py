"""answers.py ADDRESS TOKEN HANDLER DEVICE: what the daemon answers about something that is there, and the first lines of its streams,
as lines and as events, against the schemas of its description."""
import http.client
import json
import sys
import urllib.parse

import jsonschema_rs

ADDRESS, TOKEN, HANDLER, DEVICE = sys.argv[1:]
PLACE = urllib.parse.urlsplit(ADDRESS)
LINES = 5

# Each with a body, where it has one.
CALLS = [
    ("GET", "/v1/handlers/{id}", None), ("GET", "/v1/handlers/{id}/why", None), ("GET", "/v1/handlers/{id}/pending", None),
    ("GET", "/v1/devices", None), ("GET", "/v1/status", None), ("GET", "/v1/conditions", None),
    ("GET", "/v1/dead-letters", None), ("GET", "/v1/pending", None), ("GET", "/v1/me", None),
    ("POST", "/v1/handlers/{id}/stop", {"keep_sessions": True}), ("POST", "/v1/handlers/{id}/start", None),
    ("POST", "/v1/handlers/{id}/restart", None), ("POST", "/v1/simulate", {"what": "wake", "handler": HANDLER}),
    ("POST", "/v1/conditions/{word}", {"value": "real"}), ("POST", "/v1/reload", None),
    ("POST", "/v1/simulate", {"what": "disconnect", "device": DEVICE}), ("POST", "/v1/dead-letters/drop", {"all": True}),
]


def ask(method, path, body=None, **headers):
    connection = http.client.HTTPConnection(PLACE.hostname, PLACE.port, timeout=5)
    sent = None if body is None else json.dumps(body)
    connection.request(method, path, sent, headers={"Authorization": f"Bearer {TOKEN}", **headers})
    answer = connection.getresponse()
    if answer.status != 200:
        sys.exit(f"{method} {path}: {answer.status} {answer.read().decode()}")
    return connection, answer


DESCRIPTION = json.load(ask("GET", "/v1/openapi.json")[1])


def validator(method, path, kind):
    """Of what an address answers in that form."""
    schema = DESCRIPTION["paths"][path][method.lower()]["responses"]["200"]["content"][kind]["schema"]
    return jsonschema_rs.Draft202012Validator({**schema, "components": DESCRIPTION["components"]})


def check_call(method, path, body):
    _, answer = ask(method, path.replace("{id}", HANDLER).replace("{word}", "power"), body)
    validator(method, path, "application/json").validate(json.load(answer))


def lines_of(path, kind, method="GET", body=None):
    """As many lines as come within the time-out, at most LINES."""
    connection, answer = ask(method, path, body, Accept=kind)
    if answer.headers["Content-Type"] != kind:
        sys.exit(f"{path}: {answer.headers['Content-Type']} for {kind}")
    found = []
    try:
        while len(found) < LINES and (line := answer.readline()):
            found.append(line.decode())
    except TimeoutError:
        pass
    connection.close()
    return found


def check_stream(path, query=""):
    plain = lines_of(path + query, "application/x-ndjson")
    framed = lines_of(path + query, "text/event-stream")
    events = [line.removeprefix("data: ") for line in framed if line.startswith("data: ")]
    for line in plain + events:
        validator("GET", path, "application/x-ndjson").validate(json.loads(line))
    print(f"{path}: {len(plain)} lines and {len(events)} events are as described")
    return plain


def check_lines(method, path, query="", body=None):
    """Of a stream that answers as it likes: what a machine without Bluetooth says is described too."""
    kind = "application/x-ndjson"
    found = lines_of(path.replace("{id}", HANDLER) + query, kind, method, body)
    for line in found:
        validator(method, path, kind).validate(json.loads(line))
    print(f"{method} {path}: {len(found)} lines are as described")
    return found


def check_recording():
    """Returns it as a whole trace."""
    kinds = DESCRIPTION["paths"]["/v1/recording"]["get"]["responses"]["200"]["content"]
    connection, answer = ask("GET", f"/v1/recording?device={DEVICE}")
    kind = answer.headers["Content-Type"].split(";")[0]
    found = [answer.readline().decode() for _ in range(6)]
    connection.close()
    if kind not in kinds or not found[0].startswith("wakebridge-trace "):
        sys.exit(f"/v1/recording: {kind} {found}")
    print("/v1/recording: a trace, as described")
    return "".join(found) + "end\n"


def main():
    for method, path, body in CALLS:
        check_call(method, path, body)
    print(f"{len(CALLS)} answers are as described")
    if not check_stream("/v1/events"):
        sys.exit("/v1/events: no event came")
    check_stream("/v1/logs", "?follow=true&lines=3")
    if not check_lines("GET", "/v1/day"):
        sys.exit("/v1/day: nothing came")
    check_lines("POST", "/v1/handlers/{id}/attach")
    check_lines("GET", "/v1/neighbours")
    if not check_lines("POST", "/v1/pairing", body={"device": "C0:F1:F2:F3:F4:99"}):
        sys.exit("/v1/pairing: nothing came")
    trace = check_recording()
    if not check_lines("POST", "/v1/replay", body={"handler": HANDLER, "trace": trace}):
        sys.exit("/v1/replay: nothing came")


main()
