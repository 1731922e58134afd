"""Open pages, as a daemon sees them: each follows every event, and asks for the status as often as a page does.

    pages.py PORT TOKEN COUNT     descriptor 0 is a socket, which gets "ready" once all are answered; ends with it

What comes is read twice a second and not as it comes: phones would do that on processors of their own.
"""
import select
import socket
import sys
import time

READING, ASKING = 0.5, 5.0  # seconds


def ask(port, token, path, accept):
    page = socket.create_connection(("127.0.0.1", port))
    page.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: {accept}\r\n"
                 f"Authorization: Bearer {token}\r\n\r\n".encode())
    return page


def read_head(page):
    head = b""
    while b"\r\n\r\n" not in head:
        piece = page.recv(4096)
        if not piece:
            sys.exit(f"pages.py: a page was cut off: {head!r}")
        head += piece
    if not head.startswith(b"HTTP/1.1 200"):
        sys.exit(f"pages.py: a page was refused: {head.splitlines()[0]!r}")


def drain(page):
    while select.select([page], [], [], 0)[0]:
        if not page.recv(1 << 16):
            sys.exit("pages.py: a page was cut off")


def main():
    port, token, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    followers = [ask(port, token, "/v1/events", "text/event-stream") for _ in range(count)]
    for page in followers:
        read_head(page)
    line = socket.socket(fileno=0)
    line.sendall(b"ready\n")
    asked = time.monotonic()
    while not select.select([line], [], [], READING)[0]:
        for page in followers:
            drain(page)
        if time.monotonic() - asked > ASKING:
            asked = time.monotonic()
            for _ in followers:
                page = ask(port, token, "/v1/status", "application/json")
                read_head(page)
                page.close()


if __name__ == "__main__":
    main()
