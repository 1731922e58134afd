"""network.py ATTACK PORT TOKEN SECRET: attacks the daemon over TCP, and prints how often each status came, as JSON.

SECRET is the name of something that the daemon knows: an answer that holds it has told what it must not."""
import collections
import concurrent.futures
import contextlib
import json
import random
import select
import socket
import ssl
import sys
import threading
import time

ATTACK, PORT, TOKEN, SECRET = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4].encode()
DICE = random.Random(27)
HOST = f"Host: 127.0.0.1:{PORT}"
counts = collections.Counter()


def talk(request, source="127.0.0.1", patience=60.0):
    """Sends one request; the status that comes, or how the connection ends."""
    try:
        with socket.create_connection(("127.0.0.1", PORT), patience, (source, 0)) as connection:
            connection.sendall(request)
            answer = connection.recv(1 << 16)
    except TimeoutError:
        return "silence", b""
    except OSError:
        return "closed", b""
    if not answer:
        return "closed", b""
    return (answer[9:12].decode() if answer.startswith(b"HTTP/1.") else "nonsense"), answer


def count(outcome):
    status, answer = outcome
    counts[status] += 1
    if SECRET in answer:
        counts["told"] += 1


def request(method="GET", path="/v1/status", *headers, body=""):
    head = [f"{method} {path} HTTP/1.1", HOST, *headers, *([f"Content-Length: {len(body)}"] if body else [])]
    return ("\r\n".join(head) + "\r\n\r\n" + body).encode()


def malformed():
    """A whole request with a token, and then chance at it: a byte is changed, left out, doubled, or all is cut."""
    whole = bytearray(request("POST", "/v1/simulate", "Authorization: Bearer x", body='{"what":"wake"}'))
    for _ in range(DICE.randint(1, 6)):
        if len(whole) < 2:
            break
        place = DICE.randrange(len(whole))
        change = DICE.randrange(4)
        if change == 0:
            whole[place] = DICE.randrange(256)
        elif change == 1:
            del whole[place]
        elif change == 2:
            whole[place:place] = bytes([whole[place]]) * DICE.choice([1, 2, 2000])
        else:
            del whole[place + 1 :]
    return bytes(whole)


def slow(number=500, seconds=3.0, longest=12.0):
    """Connections that begin a request and send a byte of it now and then; an honest request meanwhile must be answered.

    A slow machine has more time for it: after 15 s connections are cut for their age."""
    held, gone, begin = [], set(), time.monotonic()
    while (age := time.monotonic() - begin) < longest and (age < seconds or len(held) < number or counts["200"] <= 10):
        for _ in range(min(50, number - len(held))):
            held.append(socket.create_connection(("127.0.0.1", PORT), 60))
            held[-1].send(b"GET /v1/status HTTP/1.1\r\nX: ")
        for connection in held:
            try:
                connection.send(b"y")
            except OSError:
                pass
        count(talk(request("GET", "/v1/me"), patience=5.0))
        # Until the next byte is due, or the daemon cuts one.
        gone.update(select.select([one for one in held if one not in gone], [], [], 0.05)[0])
    counts["cut"] = len(gone)


def flood(tries):
    with concurrent.futures.ThreadPoolExecutor(60) as pool:
        for outcome in pool.map(lambda words: talk(*words), tries):
            count(outcome)


def handshakes(number=120, rounds=5):
    """Connections begin TLS together once all are open; an honest client is served after each round."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    sent = ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), sent).do_handshake()
    hello = sent.read()
    for _ in range(rounds):
        held = [socket.create_connection(("127.0.0.1", PORT), 60, (f"127.0.0.{4 + place % 2}", 0)) for place in range(number)]
        for connection in held:
            with contextlib.suppress(OSError):
                connection.sendall(hello)
        with socket.create_connection(("127.0.0.1", PORT), 60) as plain, context.wrap_socket(plain) as honest:
            honest.sendall(request("GET", "/v1/openapi.json"))
            counts[honest.recv(12)[9:12].decode()] += 1
        for connection in held:
            connection.close()


def hook(number=300):
    """Eight senders at once send messages to the address of a web hook."""
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        message = request("POST", f"/v1/hooks/{TOKEN}", "Urgency: high", body="x" * 4000)
        for outcome in pool.map(lambda _: talk(message), range(number)):
            count(outcome)


def crowd(number=64, owners=20):
    """Clients at one address, as behind a proxy, send wrong tokens without a pause; the owner calls from the same address."""
    wrong = request("GET", "/v1/status", "Authorization: Bearer " + "A" * len(TOKEN))
    over, refused = threading.Event(), threading.Barrier(number + 1)

    def guess():
        talk(wrong, patience=20.0)
        refused.wait()
        while not over.is_set():
            talk(wrong, patience=20.0)

    guessers = [threading.Thread(target=guess) for _ in range(number)]
    for guesser in guessers:
        guesser.start()
    refused.wait()
    for _ in range(owners):
        status, _ = talk(request("GET", "/v1/me", f"Authorization: Bearer {TOKEN}", "Connection: close"), patience=20.0)
        counts[status] += 1
    over.set()
    for guesser in guessers:
        guesser.join()


def main():
    right, wrong = f"Authorization: Bearer {TOKEN}", "Authorization: Bearer " + "A" * len(TOKEN)
    if ATTACK == "slow":
        slow()
    elif ATTACK == "crowd":
        crowd()
    elif ATTACK == "hook":
        hook()
    elif ATTACK == "handshakes":
        handshakes()
    elif ATTACK == "strangers":
        # TOKEN has the role 'read'.
        for _ in range(50):
            count(talk(request()))
            count(talk(request("POST", "/v1/reload", right, body="{}")))
            count(talk(request("GET", "/v1/status", right, "Origin: http://evil.example")))
            count(talk(request("GET", "/v1/status", right).replace(HOST.encode(), b"Host: evil.example")))
    elif ATTACK == "malformed":
        # Half of them are not whole, and the daemon waits for the rest of those.
        flood([(malformed(), "127.0.0.1", 0.15) for _ in range(10_000)])
    else:
        flood([(request("GET", "/v1/status", wrong), f"127.0.1.{place % 50 + 1}", 20.0) for place in range(1_000)])
    print(json.dumps(counts))


main()
