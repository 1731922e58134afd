"""Serves a file whose second half comes once /run/library/open is there."""
import http.server
import os
import time

BODY = bytes(range(256)) * 4096


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY[:len(BODY) // 2])
        while not os.path.exists("/run/library/open"):
            time.sleep(0.2)
        self.wfile.write(BODY[len(BODY) // 2:])


http.server.ThreadingHTTPServer(("127.0.0.1", 8017), Handler).serve_forever()
