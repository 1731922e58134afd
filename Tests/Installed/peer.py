"""The far end of a handler's connection: sends a number a second, and writes down each connection, its end, and what was sent."""
import itertools
import os
import select
import socket
import time

os.makedirs("/run/peer", exist_ok=True)
book = open("/run/peer/book", "a", buffering=1)
door = socket.create_server(("127.0.0.1", 5060))
numbers = itertools.count(1)
while True:
    peer, _ = door.accept()
    book.write("connected\n")
    due = time.monotonic() + 1
    while True:
        try:
            if select.select([peer], [], [], max(0, due - time.monotonic()))[0]:
                if peer.recv(64) == b"":
                    book.write("ended\n")
                    break
                continue
            number, due = next(numbers), due + 1
            peer.sendall(b"%d\n" % number)
            book.write(f"sent {number}\n")
        except OSError as error:
            book.write(f"failed {error}\n")
            break
