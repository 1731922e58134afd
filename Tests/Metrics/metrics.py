#!/usr/bin/env python3
"""Reads metrics as others do.

    metrics.py parse FILE                          by the OpenMetrics parser of prometheus_client; prints each family and its kind
    metrics.py queries DASHBOARD                   prints each query of a Grafana dashboard
    metrics.py evaluate DASHBOARD CONFIG FOLDER    starts Prometheus with that file, waits for its scrapes, asks each query

`evaluate` prints a line a query, `results QUERY`, and ends with 1 where Prometheus cannot evaluate one.
"""
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Lab"))
from waiting import until  # noqa: E402

SCRAPES = 5
PATIENCE_S = 40
# What Grafana puts in the place of its variables.
WORDS = {"$__rate_interval": "4s", "$__range": "30s", "$__interval": "1s"}


def parse(path):
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
    for family in text_string_to_metric_families(pathlib.Path(path).read_text()):
        print(family.name, family.type, len(family.samples))


def panels(dashboard):
    for panel in dashboard["panels"]:
        yield panel
        yield from panel.get("panels", [])


def queries(path):
    dashboard = json.loads(pathlib.Path(path).read_text())
    found = [target["expr"] for panel in panels(dashboard) for target in panel.get("targets", [])]
    for variable in dashboard["templating"]["list"]:
        label = re.match(r"label_values\((.*), *\w+\)$", variable.get("definition", ""))
        if label:
            found.append(label[1])
    return found


def filled(query):
    for word, text in WORDS.items():
        query = query.replace(word, text)
    return re.sub(r"\$\w+", ".*", query)


def ask(port, path, **words):
    address = f"http://127.0.0.1:{port}{path}?{urllib.parse.urlencode(words)}"
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return json.load(error)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def scrapes(port):
    try:
        found = ask(port, "/api/v1/query", query="sum(sum_over_time(up[1m]))")["data"]["result"]
        return float(found[0]["value"][1]) if found else 0
    except (OSError, ValueError):
        return 0


def await_scrapes(port, process):
    until(lambda: process.poll() is not None or scrapes(port) >= SCRAPES, PATIENCE_S, 0.2)
    if process.poll() is not None:
        sys.exit("prometheus has ended")
    if scrapes(port) < SCRAPES:
        sys.exit(f"there were no {SCRAPES} scrapes in {PATIENCE_S} s: {ask(port, '/api/v1/targets')}")


def evaluate(dashboard, config, folder):
    port = free_port()
    with open(pathlib.Path(folder, "prometheus.log"), "w") as log:
        process = subprocess.Popen(
            [".build/metrics/bin/prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/data",
             f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log)
    try:
        await_scrapes(port, process)
        failed = [query for query in queries(dashboard) if not tell(port, query)]
    finally:
        process.kill()
        process.wait()
    sys.exit(1 if failed else 0)


def tell(port, query):
    answer = ask(port, "/api/v1/query", query=filled(query))
    if answer["status"] != "success":
        print("failed", answer.get("error"), query)
        return False
    print(len(answer["data"]["result"]), query)
    return True


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["parse", file]: parse(file)
        case ["queries", dashboard]: print("\n".join(queries(dashboard)))
        case ["evaluate", dashboard, config, folder]: evaluate(dashboard, config, folder)
        case _: sys.exit(__doc__)
