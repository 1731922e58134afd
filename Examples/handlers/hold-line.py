#!/usr/bin/env python3
"""Prints the lines of a peer: the bridge holds the connection while this handler sleeps, and wakes it for each."""
import wakehandler

session = wakehandler.Session()
rest = b""
for event in session.events():
    line = session.socket("line")
    if event.kind == "socket.opened":
        rest = b""
        line.sendall(b"hello\n")
    elif event.kind == "socket.keepalive":
        line.sendall(b"\n")
    elif event.kind == "socket.closed":
        session.log(f"the line is closed: {event.reason}")
    while event.kind == "socket.readable":
        try:
            piece = line.recv(65536)
        except BlockingIOError:
            break
        if not piece:
            break
        *lines, rest = (rest + piece).split(b"\n")
        for text in lines:
            session.log(text.decode(errors="replace"))
    event.done()
