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


def lines_of(path, kind):
    """As many lines as come within the time-out, at most LINES."""
    connection, answer = ask("GET", path, Accept=kind)
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


def main():
    for method, path, body in CALLS:
        check_call(method, path, body)
    print(f"{len(CALLS)} answers are as described")
    if not check_stream("/v1/events"):
        sys.exit("/v1/events: no event came")
    check_stream("/v1/logs", "?follow=true&lines=3")


main()
