"""streams.py ADDRESS TOKEN: the first lines of the daemon's streams, as lines and as events, against the schemas of its description."""
import http.client
import json
import sys
import urllib.parse

import jsonschema_rs

ADDRESS, TOKEN = sys.argv[1:]
PLACE = urllib.parse.urlsplit(ADDRESS)
LINES = 5


def lines_of(path, accept):
    """As many lines as come within the time-out, at most LINES."""
    connection = http.client.HTTPConnection(PLACE.hostname, PLACE.port, timeout=2)
    connection.request("GET", path, headers={"Authorization": f"Bearer {TOKEN}", "Accept": accept})
    answer = connection.getresponse()
    assert answer.status == 200, f"{path}: {answer.status} {answer.read()}"
    assert answer.headers["Content-Type"] == accept, f"{path}: {answer.headers['Content-Type']} for {accept}"
    found = []
    try:
        while len(found) < LINES and (line := answer.readline()):
            found.append(line.decode())
    except TimeoutError:
        pass
    connection.close()
    return found


def check(path, shape, description):
    schema = {"$ref": f"#/components/schemas/{shape}", "components": description["components"]}
    validator = jsonschema_rs.Draft202012Validator(schema)
    plain = [line for line in lines_of(path, "application/x-ndjson")]
    events = [line.removeprefix("data: ") for line in lines_of(path, "text/event-stream") if line.startswith("data: ")]
    for line in plain + events:
        validator.validate(json.loads(line))
    print(f"{path}: {len(plain)} lines and {len(events)} events are as described")
    return plain, events


def main():
    connection = http.client.HTTPConnection(PLACE.hostname, PLACE.port, timeout=5)
    connection.request("GET", "/v1/openapi.json")
    description = json.load(connection.getresponse())
    plain, _ = check("/v1/events", "event", description)
    assert plain, "no event came"
    check("/v1/logs?follow=true&lines=3", "log_line", description)


main()
