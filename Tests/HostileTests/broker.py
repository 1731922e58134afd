# A hostile MQTT 3.1.1 broker: from SIGUSR1 on, each subscriber gets an attack and a short message.
# broker.py ATTACK TOPIC BYTES [CERTIFICATE KEY]; it prints its port, and a line for each event.
import signal
import socket
import ssl
import struct
import sys
import threading

attack, topic, size = sys.argv[1], sys.argv[2], int(sys.argv[3])
CONNECT, CONNACK, PUBLISH, PUBACK, SUBSCRIBE, UNSUBSCRIBE, PINGREQ = 1, 0x20, 3, 4, 8, 10, 12
LONG, SHORT = 7, 8  # packet identifiers
begun = threading.Event()
signal.signal(signal.SIGUSR1, lambda *_: begun.set())


def tell(*words):
    print(*words, flush=True)


def length(count):
    bytes_ = b""
    while True:
        low, count = count & 127, count >> 7
        bytes_ += bytes([low | (128 if count else 0)])
        if not count:
            return bytes_


def packet(head, body):
    return bytes([head]) + length(len(body)) + body


def text(word):
    return struct.pack(">H", len(word)) + word.encode()


class Client:
    def __init__(self, connection):
        self.connection, self.sending, self.is_served = connection, threading.Lock(), False

    def take(self, count):
        data = b""
        while len(data) < count:
            more = self.connection.recv(count - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def next(self):
        head, count, shift = self.take(1)[0], 0, 0
        while True:
            byte = self.take(1)[0]
            count |= (byte & 127) << shift
            shift += 7
            if not byte & 128:
                return head, self.take(count)

    def send(self, *parts):
        with self.sending:
            for part in parts:
                self.connection.sendall(part)

    def publish(self, name, identifier, payload):
        self.send(packet(PUBLISH << 4 | 2, text(name) + struct.pack(">H", identifier) + payload))

    def attack(self):
        begun.wait()
        try:
            if attack == "message":
                start = text(topic) + struct.pack(">H", LONG) + b"{"
                chunk = b" " * (1 << 16)
                whole, rest = divmod(size, len(chunk))
                head = bytes([PUBLISH << 4 | 3]) + length(len(start) + size)
                self.send(head, start, *(chunk for _ in range(whole)), chunk[:rest])
            elif attack == "answer":  # acknowledges one subscription with a code for each byte
                self.send(packet(0x90, bytes(2) + b"\x01" * size))
            elif attack == "unasked":  # a message of quality 2, which Paho would keep until the broker releases it
                self.send(packet(PUBLISH << 4 | 4, text(topic) + struct.pack(">H", LONG) + b" " * size))
            tell("sent", attack)
            self.publish(topic, SHORT, b"{}")
        except OSError:
            tell("cut", attack)

    def serve(self):
        try:
            while True:
                head, body = self.next()
                kind = head >> 4
                if kind == CONNECT:
                    tell("connect", body[6])
                    self.send(bytes([CONNACK, 2, 0, 0]))
                elif kind == SUBSCRIBE:
                    self.send(packet(0x90, body[:2] + b"\x01"))
                    if not self.is_served:
                        self.is_served = True
                        threading.Thread(target=self.attack, daemon=True).start()
                elif kind == UNSUBSCRIBE:
                    self.send(packet(0xB0, body[:2]))
                elif kind == PINGREQ:
                    self.send(bytes([0xD0, 0]))
                elif kind == PUBLISH and head & 6:
                    end = 2 + struct.unpack(">H", body[:2])[0]
                    self.send(packet(0x40, body[end : end + 2]))
                elif kind == PUBACK:
                    tell("acknowledged", struct.unpack(">H", body[:2])[0])
        except (EOFError, OSError):
            tell("ended")


listener = socket.create_server(("127.0.0.1", 0))
if len(sys.argv) > 4:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[4], sys.argv[5])
    listener = context.wrap_socket(listener, server_side=True)
tell("port", listener.getsockname()[1])
while True:
    try:
        connection, _ = listener.accept()
    except OSError:
        continue
    threading.Thread(target=Client(connection).serve, daemon=True).start()
