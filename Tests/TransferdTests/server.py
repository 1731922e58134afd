"""A server of files that misbehaves in a way that the path says: /KIND/NAME.

Usage: server.py STORED [IDENTITY]

STORED tells what was sent to it, and some files are held back until STORED.open is there. It prints its port, and another one
for TLS where IDENTITY is a file with a key and a certificate.
"""
import base64
import gzip
import hashlib
import http.server
import json
import os
import ssl
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Lab"))
from waiting import pace, until  # noqa: E402

LOCK = threading.Lock()
SEEN = {}
STORED = {}
PORTS = {}


def is_open():
    return os.path.exists(sys.argv[1] + ".open")


def content(name):
    """Of a length that is the name's, the same at each call."""
    block = hashlib.sha256(name.encode()).digest()
    length = 1_000 + int.from_bytes(block[:3], "big") % 200_000
    return (block * (length // 32 + 1))[:length]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def attempt(self):
        with LOCK:
            SEEN[self.path] = SEEN.get(self.path, 0) + 1
            return SEEN[self.path]

    def start_of_range(self, version):
        asked = self.headers.get("Range", "")
        if not asked.startswith("bytes=") or self.headers.get("If-Range", version) != version:
            return None
        return int(asked[6:].rstrip("-"))

    def answer(self, status, body, headers=(), length=None, cut=None):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        if cut is not None:
            self.wfile.write(body[:cut])
            self.wfile.flush()
            self.close_connection = True
            self.connection.close()
        else:
            self.wfile.write(body)

    def ranged(self, body, etag, shift=0, cut=None):
        start = self.start_of_range(etag)
        headers = [("ETag", etag)]
        if start is None:
            return self.answer(200, body, headers, cut=cut)
        if start >= len(body):
            return self.answer(416, b"", headers + [("Content-Range", f"bytes */{len(body)}")])
        start = min(max(0, start + shift), len(body) - 1)
        part = f"bytes {start}-{len(body) - 1}/{len(body)}"
        return self.answer(206, body[start:], headers + [("Content-Range", part)], cut=cut)

    def do_GET(self):
        kind, _, name = self.path[1:].partition("/")
        body, number = content(self.path), self.attempt()
        etag = f'"{hashlib.sha256(body).hexdigest()[:8]}"'
        half = len(body) // 2
        if kind == "plain":
            return self.ranged(body, etag)
        if kind == "cut":
            return self.ranged(body, etag, cut=half // 2 if number % 4 else None)
        if kind == "ignores":
            return self.answer(200, body, [("ETag", etag)], cut=half if number == 1 else None)
        if kind == "shifts":
            return self.ranged(body, etag, shift=-300 if number % 2 else 300, cut=half if number == 1 else None)
        if kind == "changes":
            return self.ranged(body, f'"{number}"', cut=half if number < 3 else None)
        if kind == "gzip":
            return self.answer(200, gzip.compress(body), [("Content-Encoding", "gzip")])
        if kind == "accepted":
            return self.answer(202, b"later")
        if kind == "empty":
            return self.answer(204, b"")
        if kind == "busy":
            return self.ranged(body, etag) if number > 1 else self.answer(429, b"", [("Retry-After", "1")])
        if kind == "breaks":
            return self.ranged(body, etag) if number > 1 else self.answer(500, b"oops")
        if kind == "ended":
            return self.ended(body, etag, number)
        if kind == "lost":
            # It says that it has less than it sent.
            if number == 1:
                return self.answer(200, body, [("ETag", etag)], cut=half)
            if "Range" in self.headers:
                return self.answer(416, b"", [("ETag", etag), ("Content-Range", f"bytes */{half // 2}")])
            return self.answer(200, body, [("ETag", etag)])
        if kind == "dated":
            return self.dated(body, half, number)
        if kind == "named":
            return self.answer(200, body, [("Content-Disposition", 'attachment; filename="../../../../../../tmp/named"'),
                                           ("Content-Location", "/../../named")])
        if kind == "outside":
            return self.answer(302, b"", [("Location", "file:///etc/passwd")])
        if kind == "nowhere":
            return self.answer(302, b"")
        if kind == "vast":
            return self.answer(200, b"x" * 1000, [("ETag", etag)], length=10 << 30, cut=1000)
        if kind == "noise":
            self.wfile.write(bytes(range(256)) * 64)
            self.close_connection = True
            return None
        if kind == "chunks":
            return self.chunks(body)
        if kind == "lengths":
            return self.chunks(body, length=15)
        if kind == "labelled":
            return self.answer(200, body, [("Content-Type", "application/x-gzip"), ("Content-Encoding", "x-gzip")])
        if kind == "secret":
            wanted = "Basic " + base64.b64encode(b"me:word").decode()
            if self.headers.get("Authorization") == wanted:
                return self.ranged(body, etag)
            return self.answer(401, b"who?", [("WWW-Authenticate", 'Basic realm="r"')])
        if kind == "circle":
            return self.answer(302, b"", [("Location", self.path)])
        if kind == "moved":
            return self.answer(302, b"", [("Location", "/plain" + self.path)])
        if kind == "down":
            return self.answer(302, b"", [("Location", f"http://127.0.0.1:{PORTS['http']}/plain/down")])
        if kind == "up":
            return self.answer(302, b"", [("Location", f"https://127.0.0.1:{PORTS['https']}/plain/up")])
        if kind == "asked":
            return self.answer(200, json.dumps(SEEN).encode())
        if kind == "gate":
            return self.ranged(body, etag, cut=None if is_open() else 1)
        if kind == "valve":
            return self.valve(body, etag)
        if kind == "flood":
            return self.chunks(b"x" * (64 << 20), piece=1 << 20)
        if kind == "slow":
            return self.slow(body, etag)
        if kind == "endless":
            return self.endless()
        if kind == "huge":
            return self.answer(200, b"x" * 1000, length=1 << 50, cut=1000)
        if kind == "big":
            return self.big(int(name))
        return self.answer(404, b"none")

    def ended(self, body, etag, number):
        """Announces more than it has, so that the rest is asked for, and there is none."""
        if number == 1:
            return self.answer(200, body, [("ETag", etag)], length=len(body) + 100, cut=len(body))
        return self.ranged(body, etag)

    def dated(self, body, half, number):
        """A weak tag proves nothing; the date does."""
        date = "Sat, 21 Nov 2026 07:42:46 GMT"
        headers = [("ETag", f'W/"{number}"'), ("Last-Modified", date)]
        start = self.start_of_range(date)
        if start is None:
            return self.answer(200, body, headers, cut=half if number == 1 else None)
        part = ("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        return self.answer(206, body[start:], headers + [part])

    def chunks(self, body, piece=5_000, length=None):
        """Without a length beforehand, or with one that is wrong."""
        self.send_response(200)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for start in range(0, len(body), piece):
            part = body[start:start + piece]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        self.wfile.write(b"0\r\n\r\n")

    def slow(self, body, etag):
        self.send_response(200)
        self.send_header("ETag", etag)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        for start in range(0, len(body), 20_000):
            self.wfile.write(body[start:start + 20_000])
            pace(time.monotonic() + 0.02)

    def valve(self, body, etag):
        """Half of it at once, and the rest when it may."""
        self.send_response(200)
        self.send_header("ETag", etag)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:len(body) // 2])
        until(is_open, 600)
        self.wfile.write(body[len(body) // 2:])

    def endless(self):
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        for number in range(100_000):
            self.wfile.write(f"X-{number}: {'y' * 100}\r\n".encode())

    def big(self, length):
        self.send_response(200)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        block = b"0123456789abcdef" * (1 << 16)
        while length > 0:
            length -= self.wfile.write(block[:length])

    def do_PUT(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path.startswith("/once/") and self.attempt() == 1:
            return self.answer(503, b"")
        with LOCK:
            STORED[self.path] = {"length": len(body), "sha256": hashlib.sha256(body).hexdigest(),
                                 "key": self.headers.get("Idempotency-Key")}
            json.dump(STORED, open(sys.argv[1], "w"))
        return self.answer(201, b"")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        pass


server = Server(("127.0.0.1", 0), Handler)
PORTS["http"] = server.server_port
print(server.server_port, flush=True)
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2])
    secure = Server(("127.0.0.1", 0), Handler)
    secure.socket = context.wrap_socket(secure.socket, server_side=True)
    PORTS["https"] = secure.server_port
    threading.Thread(target=secure.serve_forever, daemon=True).start()
    print(secure.server_port, flush=True)
server.serve_forever()
