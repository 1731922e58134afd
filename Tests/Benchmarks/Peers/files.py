"""Serves SIZE bytes to each GET, out of memory and as fast as they are read. Prints its port; ends when its input does.

usage: files.py SIZE
"""
import http.server
import os
import sys
import tempfile
import threading

SIZE = int(sys.argv[1])


class Files(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(SIZE))
        self.send_header("ETag", '"1"')
        self.end_headers()
        self.wfile.flush()
        sent = 0
        while sent < SIZE:
            sent += os.sendfile(self.connection.fileno(), STORE.fileno(), sent, SIZE - sent)


with tempfile.TemporaryFile(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as STORE:
    block = os.urandom(1 << 20)
    for _ in range(SIZE >> 20):
        STORE.write(block)
    STORE.flush()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()
