"""Serves a file whose second half comes once somebody has asked for /open."""
import http.server
import threading

BODY = bytes(range(256)) * 4096
OPEN = threading.Event()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        if self.path == "/open":
            OPEN.set()
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY[:len(BODY) // 2])
        OPEN.wait()
        self.wfile.write(BODY[len(BODY) // 2:])


http.server.ThreadingHTTPServer(("127.0.0.1", 8017), Handler).serve_forever()
