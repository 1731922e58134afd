"""A stand-in for the daemon: answers what the page asks, from made-up devices, and does to it what a real daemon may do.

    python3 Tests/Page/standin.py     serves the page until Ctrl-C; the addresses that log in are printed
"""
import collections
import gzip
import hashlib
import http.cookies
import http.server
import itertools
import json
import math
import mimetypes
import pathlib
import queue
import random
import socket
import threading
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FILES = ROOT / "Web"
POLICY = "default-src 'self'; base-uri 'none'; object-src 'none'; form-action 'self'; frame-ancestors 'none'"
ROLES = ("read", "operate", "pair")
TOKENS = {role: f"{role}-token" for role in ROLES}

mimetypes.add_type("text/javascript", ".js")
Route = collections.namedtuple("Route", "role answer")


def stamp(moment=None):
    moment = time.time() if moment is None else moment
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment)) + f".{int(moment % 1 * 1e6):06d}Z"


def refusal(code, message, advice):
    return {"error": {"code": code, "message": message, "advice": advice}}


class Refused(Exception):
    """An order or a question that the daemon cannot meet."""

    def __init__(self, status, answer):
        super().__init__(answer)
        self.status, self.answer = status, answer


def assets():
    """By address: content type, bytes and whether it may be kept for ever; as Sources/WakeDaemon/Web does it."""
    files = {path.name: path.read_bytes() for path in sorted(FILES.iterdir())}
    folder = hashlib.sha256(b"\xff".join(part for item in files.items() for part in (item[0].encode(), item[1]))).hexdigest()[:16]
    found = {}
    for name, content in files.items():
        kind = f"{mimetypes.guess_type(name)[0]}"
        if name == "index.html":
            found[""] = found[name] = (kind + "; charset=utf-8", content.replace(b"{folder}", folder.encode()), False)
        else:
            found[f"{folder}/{name}"] = (kind, content, True)
    return found


class Device:
    def __init__(self, alias, source, profile, field, level, **rest):
        self.alias, self.source, self.profile, self.field, self.level = alias, source, profile, field, level
        self.mode, self.link, self.session, self.why = "bluetooth-central", "connected", "open", None
        self.battery = None
        self.adapter = "00:1A:7D:DA:71:13"
        self.last = time.time()
        self.gaps = []
        # When its daemon started, if that matters.
        self.begun = None
        self.__dict__.update(rest)

    def value(self, moment):
        """The same at the same moment, so that charts and events agree."""
        base, swing = self.level
        slow = math.sin(moment / 210 + base) + 0.5 * math.sin(moment / 47)
        fast = random.Random(int(moment * 1000)).uniform(-0.1, 0.1)
        return round(base + swing * (slow + fast) / 1.75, 0 if base > 40 else 1)

    def status(self):
        return {"alias": self.alias, "source": self.source, "mode": self.mode, "profile": self.profile, "bonded": True,
                "match": None, "report_descriptor": None, "node": None, "link": self.link, "why": self.why,
                "adapter": self.adapter, "session": self.session, "last_data": stamp(self.last) if self.last else None}

    def history(self, span):
        seconds, step = {"15m": (900, 1), "24h": (86_400, 60), "7d": (604_800, 1800)}[span]
        until = time.time()
        gaps = [gap for gap in self.gaps if gap["until"] > until - seconds]
        if self.begun and self.begun > until - seconds:
            gaps.insert(0, {"from": until - seconds, "until": self.begun, "cause": "not-recorded",
                            "why": f"the daemon keeps no history from before {stamp(self.begun)}, and none over a restart"})
        points = []
        for moment in range(int(until - seconds) // step * step, int(until), step):
            if self.last is None or moment > self.last or any(gap["from"] <= moment <= gap["until"] for gap in gaps):
                continue
            value = self.value(moment)
            spread = 0 if step == 1 else self.level[1] * 0.3
            points.append([moment, value, round(value - spread, 1), round(value + spread, 1)])
        fields = [{"name": self.field, "unit": None, "points": points}] if points else []
        if points and self.battery:
            fields.append({"name": "battery_percent", "unit": "%", "points": [[int(until) - 60] + [self.battery] * 3]})
        return {"device": self.alias, "from": until - seconds, "until": until, "step_s": step, "gaps": gaps, "fields": fields}


def made_up_devices():
    now = time.time()
    strap = Device("chest-strap", "/bluetooth/C0:F1:F2:F3:F4:01", "heart-rate-monitor", "bpm", (72, 16), battery=77)
    strap.gaps = [
        {"from": now - 520, "until": now - 430, "cause": "link", "why": "the strap went out of reach"},
        {"from": now - 30_000, "until": now - 24_000, "cause": "bridge", "why": "the daemon was not running"},
        {"from": now - 61_000, "until": now - 55_000, "cause": "session-closed", "why": "you freed it for the phone"}]
    return [
        strap,
        Device("kitchen", "/bluetooth/A4:C1:38:0B:22:7E", "thermometer", "temperature_c", (21.4, 0.8), battery=91,
               adapter="00:1A:7D:DA:71:14"),
        Device("scale", "/bluetooth/D0:5E:12:00:41:9A", "weight-scale", "weight_kg", (71.2, 0.4), link="disconnected",
               why="waits for room on adapter 00:1A:7D:DA:71:13", last=now - 3 * 3600),
        Device("doorbell-scanner", "/usb/1a86:7523:5", "barcode-scanner", "code", (40, 1), mode="external-accessory", adapter=None,
               last=None),
    ]


def made_up_thermometers():
    """One for each room, each on a level of its own."""
    rooms = ["kitchen", "bathroom", "bedroom", "nursery", "office", "hall", "attic", "cellar", "garage", "greenhouse", "balcony",
             "freezer"]
    levels = [21.4, 23.1, 18.2, 20.4, 21.9, 19.3, 25.2, 14.6, 9.8, 27.3, 6.4, -18.4]
    return [Device(room, f"/bluetooth/A4:C1:38:0B:22:{place:02X}", "thermometer", "temperature_c", (level, 0.6),
                   battery=12 if room == "cellar" else 90 - 4 * place, adapter="00:1A:7D:DA:71:14")
            for place, (room, level) in enumerate(zip(rooms, levels))]


def handler(name, state, why, **rest):
    status = {"id": name, "state": state, "why": why, "pid": 4242, "epoch": 3, "queued": 0, "open": 0, "strikes": 0,
              "held_for_ms": 0, "wakes": 60, "events": 61, "awake_ms": 1830, "status": None, "last_exit": None, "unbonded": [],
              "work": {"useful": 52, "nothing": 6, "failed": 1, "unsaid": 2, "judged_wakes": 59, "useful_wakes": 52,
                       "awake_ratio": 0.004, "cpu_ms": 41.93, "cpu_per_event_ms": 0.687},
              "scheduled": {"count": 0, "next": None}, "flows": [],
              "transfers": {"open": 0, "moving": 0, "done": 0, "total": 0}}
    return {**status, **rest}


def made_up_handlers():
    return [
        handler("hr", "suspended", "asleep: no event waits"),
        handler("climate", "active", "awake: it works on an event of kitchen", open=1),
        handler("upload", "held", "held after 3 crashes; it said last: cannot open /opt/upload/key", held_for_ms=64_000,
                queued=4, pid=None, strikes=3, last_exit="exited with status 1"),
        handler("scans", "stopped", "stopped by an operator", pid=None),
    ]


class StandIn:
    """What a daemon knows, beside the server that tells it."""

    def __init__(self, prefix="/"):
        self.prefix, self.version = prefix, "0.9.0"
        self.devices, self.handlers = made_up_devices(), made_up_handlers()
        self.letters = [{"seq": seq, "handler": "upload", "device": "chest-strap", "time": stamp(time.time() - 60 * seq),
                         "reason": "given back 5 times: the server answered 503"} for seq in (41, 42, 43)]
        self.findings = [
            {"level": "error", "code": "adapter-off", "what": "adapter 5C:F3:70:8B:12:01 is off",
             "why": "No device connects through it.", "fix": "sudo btmgmt -i hci1 power on"},
            {"level": "hint", "code": "foreign-scan", "what": "homeassistant scans on adapter 00:1A:7D:DA:71:13",
             "why": "It slows down connecting.", "fix": "read docs/how-to/share-an-adapter.md"}]
        self.requests = []
        self.orders = []
        self.answers = {}
        self.streams = set()
        # Lines of the last recording that were sent.
        self.recorded = 0
        self.sequence = 100
        self.server = None
        self.beat = None
        self.ended = threading.Event()
        self.port = 0

    # Its life.

    def start(self):
        self.ended.clear()
        self.server = Server(("127.0.0.1", self.port), self)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def stop(self):
        self.ended.set()
        self.server.shutdown()
        self.server.server_close()
        self.server.cut()

    def restart(self):
        self.stop()
        self.start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}{self.prefix}"

    def measure(self, interval):
        """Lets the strap and the thermometer speak in this rhythm, until `rest`."""
        self.beat = threading.Event()
        threading.Thread(target=self.speak, args=(self.beat, interval), daemon=True).start()

    def rest(self):
        self.beat.set()

    def speak(self, ended, interval):
        turn = 0
        while not ended.wait(interval):
            turn += 1
            for device in self.devices[: 1 if turn % 4 else 2]:
                if device.session == "open":
                    self.send_value(device, {device.field: device.value(time.time())})
            if turn % 10 == 0:
                self.send_value(self.devices[0], {"battery_percent": self.devices[0].battery}, "2a19")

    def send_value(self, device, value, characteristic="2a37"):
        device.last = time.time()
        self.emit(device, "data", {"profile": device.profile, "characteristic": characteristic, "value": value, "raw": "1049"})

    def emit(self, device, kind, data):
        self.sequence += 1
        line = {"specversion": "1.0", "id": f"j7-{self.sequence}", "source": device.source, "type": f"wakebridge.device.{kind}",
                "subject": device.alias, "time": stamp(), "datacontenttype": "application/json", "authenticated": True,
                "seq": self.sequence, "attempt": 1, "budgetms": 10_000, "data": data}
        for stream in list(self.streams):
            stream.put(line)

    # What it answers.

    def named(self, name):
        return next(device for device in self.devices if name in (device.alias, device.source))

    def status(self, _):
        return {"bridge": {"version": self.version, "host": "pi-living-room", "pid": 77, "configuration": "/etc/wakebridge", "journal": "j7", "uptime_s": 7500.2, "suspend": "strong",
                           "journal_health": "ok", "memory": 10_276_045, "uncontained": None,
                           "loop": {"longest_ms": 4.2, "over_50ms": 0}, "warnings": []},
                "handlers": self.handlers, "devices": [device.status() for device in self.devices],
                "adapters": [
                    {"address": "00:1A:7D:DA:71:13", "powered": True, "links": 3, "most_links": 5, "waiting": ["scale"],
                     "scanning": False},
                    {"address": "00:1A:7D:DA:71:14", "powered": True, "links": 1, "most_links": None, "waiting": [],
                     "scanning": False}]}

    def timeline(self, name, query):
        seconds = 900 if query.get("span") == "15m" else 86_400
        until = time.time()
        spans, moment = [], until - seconds
        while moment < until:
            awake, asleep = seconds / 10_000, seconds / 40
            spans += [{"state": "awake", "from": moment, "until": moment + awake},
                      {"state": "frozen", "from": moment + awake, "until": min(until, moment + asleep)}]
            moment += asleep
        spans[20:24] = [{"state": "held", "from": spans[20]["from"], "until": spans[23]["until"]}]
        return {"handler": name, "from": until - seconds, "until": until, "spans": spans, "budget_ms": 10_000, "awake_ms": 1830,
                "awake_ratio": 0.004,
                "ends": [{"time": spans[20]["from"], "what": "overrun",
                          "why": "its budget ended without an acknowledgement, and it was killed"},
                         {"time": spans[30]["from"], "what": "reclaimed", "why": "its memory was needed while it slept"}]}

    def order_handler(self, name, verb):
        one = next(each for each in self.handlers if each["id"] == name)
        one["state"] = {"start": "idle", "stop": "stopped"}.get(verb, "active")
        one["held_for_ms"] = 0
        return {"done": True}

    def switch_session(self, body):
        device = self.named(body["device"])
        device.session = body["session"]
        device.link = "disconnected" if device.session == "closed" else "connected"
        return {"done": True, "device": device.alias, "session": device.session}

    def name_device(self, body):
        device = self.named(body["device"])
        device.alias = body["name"]
        return device.status()

    def forget(self, body):
        device = self.named(body["device"])
        self.devices.remove(device)
        return {"alias": device.alias, "source": device.source, "node": None}

    def settle_letters(self, body):
        chosen = [letter for letter in self.letters if letter["handler"] == body.get("handler") or letter["seq"] == body.get("seq")]
        self.letters = [letter for letter in self.letters if letter not in chosen]
        return {"count": len(chosen)}

    def log(self, query):
        texts = ["71 bpm", "73 bpm", "stored 2 values", "72 bpm"]
        error = "TimeoutError: the server did not answer in 10 s"
        for place in range(min(40, int(query.get("lines", 100)))):
            yield {"time": stamp(time.time() - 40 + place), "handler": query["handler"],
                   "stream": "stderr" if place == 17 else "stdout", "text": error if place == 17 else texts[place % 4]}

    def neighbours(self, _):
        near = [{"address": "C0:F1:F2:F3:F4:77", "name": "Polar H10 8C2F", "rssi": -52, "profile": "heart-rate-monitor", "alias": None},
                {"address": "E8:31:CD:11:90:02", "name": "Glucose Meter", "rssi": -68, "profile": "glucose-meter", "alias": None},
                {"address": "5A:77:01:CC:10:AF", "name": None, "rssi": -85, "profile": None, "alias": None}]
        for each in itertools.cycle(near):
            yield {"neighbour": each}
            if each is near[-1] and self.ended.wait(0.5):
                return

    def pair(self, body):
        """The meter has a passkey and says its only value before it is known to be paired; the strap has a number to compare."""
        has_passkey = body["device"].startswith("E8")
        answers = self.answers["p1"] = queue.Queue()
        yield {"pairing": "p1"}
        yield {"step": "Connecting to the device."}
        yield {"ask": "passkey"} if has_passkey else {"compare": "048213"}
        answer = answers.get()
        if answer.get("passkey") not in (None, "123456") or answer.get("agrees") is False:
            yield refusal("authentication", "the device refused the passkey", "look at its label, and try again")
            return
        field = "glucose_mmol_l" if has_passkey else "bpm"
        device = Device("glucose-meter" if has_passkey else "heart-rate-monitor-8c2f", f"/bluetooth/{body['device']}", "new", field,
                        (5.4, 0.2) if has_passkey else (66, 4))
        self.devices.append(device)
        if has_passkey:
            self.send_value(device, {field: device.value(time.time())})
            self.ended.wait(0.5)
        yield {"paired": {"alias": device.alias, "address": body["device"]}}

    def answer_pairing(self, body):
        self.answers[body["pairing"]].put(body)
        return {"done": True}

    def replay(self, body):
        for number, line in enumerate(line for line in body["trace"].splitlines() if " data " in line):
            yield {"time": stamp(), "handler": body["handler"], "stream": "stdout", "text": f"value {number + 1}"}

    def record(self, query):
        device = self.named(query["device"])
        self.recorded = 0
        yield f"wakebridge-trace 1\nclock {stamp()}\ndevice 1 bluetooth {device.source[11:]} alias=\"{device.alias}\"\n+0.000000 1 connect\n"
        while not self.ended.wait(0.1):
            yield "+0.100000 1 data 2a37 1049\n"
            self.recorded += 1


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, place, bridge):
        self.bridge, self.assets, self.sockets = bridge, assets(), set()
        super().__init__(place, Exchange)

    def process_request(self, request, client_address):
        self.sockets.add(request)
        super().process_request(request, client_address)

    def close_request(self, request):
        self.sockets.discard(request)
        super().close_request(request)

    def handle_error(self, request, client_address):
        """A browser that goes away in the middle is no fault."""

    def cut(self):
        for one in list(self.sockets):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Exchange(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer(None)

    def do_POST(self):
        self.answer(json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}"))

    def answer(self, body):
        bridge = self.server.bridge
        address = urllib.parse.urlsplit(self.path)
        if not address.path.startswith(bridge.prefix):
            return self.send(404, "text/plain", b"outside the prefix\n")
        path = address.path[len(bridge.prefix):]
        bridge.requests.append((time.time(), self.command, path))
        if not path.startswith("v1/"):
            return self.send_asset(path)
        query = dict(urllib.parse.parse_qsl(address.query))
        return self.dispatch(bridge, urllib.parse.unquote(path)[3:].split("/"), query, body)

    @property
    def role(self):
        cookie = http.cookies.SimpleCookie(self.headers.get("Cookie", "")).get("token")
        return next((role for role, token in TOKENS.items() if cookie and cookie.value == token), None)

    def may(self, role):
        return self.role and ROLES.index(self.role) >= ROLES.index(role)

    def dispatch(self, bridge, words, query, body):
        if body is not None:
            bridge.orders.append(("/".join(words), body))
        if words == ["me"]:
            return self.send_json({"role": self.role, "version": bridge.version, "docs": "https://wakebridge.example/docs"})
        if words == ["login"]:
            return self.log_in(body)
        if words == ["logout"]:
            return self.send_json({"done": True}, cookie="token=; Max-Age=0")
        route = self.route(bridge, words, query, body)
        if not self.role:
            return self.send_json(refusal("unauthorized", "a token is needed", "log in"), 401)
        if not self.may(route.role):
            return self.send_json(refusal("forbidden", f"this needs the role {route.role}", "log in with another token"), 403)
        try:
            answer = route.answer()
        except Refused as refused:
            return self.send_json(refused.answer, refused.status)
        return self.send_json(answer) if isinstance(answer, dict) else self.stream(answer)

    def route(self, bridge, words, query, body):
        table = {
            "status": Route("read", lambda: bridge.status(query)),
            "events": Route("read", self.events),
            "logs": Route("read", lambda: bridge.log(query)),
            "findings": Route("read", self.findings),
            "dead-letters": Route("read", lambda: {"dead_letters": bridge.letters}),
            "dead-letters/replay": Route("operate", lambda: bridge.settle_letters(body)),
            "dead-letters/drop": Route("operate", lambda: bridge.settle_letters(body)),
            "devices/history": Route("read", lambda: bridge.named(query["device"]).history(query["span"])),
            "devices/session": Route("operate", lambda: bridge.switch_session(body)),
            "devices/name": Route("pair", lambda: bridge.name_device(body)),
            "devices/forget": Route("pair", lambda: bridge.forget(body)),
            "simulate": Route("operate", lambda: bridge.order_handler(body["handler"], "wake")),
            "neighbours": Route("pair", lambda: bridge.neighbours(query)),
            "pairing": Route("pair", lambda: bridge.pair(body)),
            "pairing/answer": Route("pair", lambda: bridge.answer_pairing(body)),
            "recording": Route("operate", lambda: bridge.record(query)),
            "replay": Route("operate", lambda: bridge.replay(body)),
        }
        if words[0] == "handlers":
            name, verb = words[1], words[2]
            if verb == "why":
                return Route("read", lambda: {"why": next(each["why"] for each in bridge.handlers if each["id"] == name)})
            if verb == "timeline":
                return Route("read", lambda: bridge.timeline(name, query))
            return Route("operate", lambda: bridge.order_handler(name, verb))
        return table["/".join(words)]

    def findings(self):
        found = self.server.bridge.findings
        if found is None:
            raise Refused(500, refusal("failed", "the doctor said nothing", "look at the log"))
        return {"checked": time.time(), "findings": found}

    def log_in(self, body):
        token = body.get("token")
        if token not in TOKENS.values():
            return self.send_json(refusal("wrong-token", "the token is not known", "make one: wakebridge web --token NAME"), 401)
        cookie = f"token={token}; HttpOnly; SameSite=Strict; Path={self.server.bridge.prefix}"
        return self.send_json({"role": next(role for role in ROLES if TOKENS[role] == token)}, cookie=cookie)

    def events(self):
        stream = queue.Queue()
        self.server.bridge.streams.add(stream)
        try:
            while True:
                yield stream.get()
        finally:
            self.server.bridge.streams.discard(stream)

    def stream(self, pieces):
        is_for_browsers = "text/event-stream" in self.headers.get("Accept", "")
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if is_for_browsers else "application/x-ndjson")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        self.wfile.flush()
        for piece in pieces:
            line = piece if isinstance(piece, str) else json.dumps(piece) + "\n"
            self.wfile.write((f"data: {line}\n" if is_for_browsers else line).encode())
            self.wfile.flush()

    def send_asset(self, path):
        if path not in self.server.assets:
            return self.send(404, "text/plain", b"there is no such file\n")
        kind, content, is_immutable = self.server.assets[path]
        tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
        kept = "public, max-age=31536000, immutable" if is_immutable else "no-cache"
        headers = {"ETag": tag, "Cache-Control": kept, "Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff"}
        if self.headers.get("If-None-Match") == tag:
            return self.send(304, kind, b"", headers)
        return self.send(200, kind, gzip.compress(content, 9), {**headers, "Content-Encoding": "gzip"})

    def send_json(self, value, status=200, cookie=None):
        self.send(status, "application/json", json.dumps(value).encode() + b"\n", {"Set-Cookie": cookie} if cookie else {})

    def send(self, status, kind, content, headers=None):
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": len(content), **(headers or {})}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(content)


def main():
    bridge = StandIn("/bridge/").start()
    bridge.measure(1.0)
    for token in TOKENS.values():
        print(f"{bridge.address}#token={token}", flush=True)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        bridge.stop()


if __name__ == "__main__":
    main()
