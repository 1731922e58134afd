# Between a client and its broker: passes everything on, and writes down what the client publishes at one topic and what the
# broker acknowledges. "P CONNECTION ID PAYLOAD" and "A CONNECTION ID", in the order in which they were passed on.
import asyncio
import sys

listening, broker, topic, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].encode(), sys.argv[4]
record = open(path, "ab", buffering=0)
count = 0


async def packets(reader):
    while True:
        head = await reader.readexactly(1)
        length, shift = 0, 0
        while True:
            byte = await reader.readexactly(1)
            head += byte
            length |= (byte[0] & 127) << shift
            shift += 7
            if byte[0] < 128:
                break
        yield head, await reader.readexactly(length)


def note_publish(connection, head, body):
    size = int.from_bytes(body[:2], "big")
    if head[0] >> 4 == 3 and body[2:2 + size] == topic:
        identifier = int.from_bytes(body[2 + size:4 + size], "big")
        record.write(b"P %d %d %s\n" % (connection, identifier, body[4 + size:]))


def note_acknowledgement(connection, head, body):
    if head[0] >> 4 == 4:
        record.write(b"A %d %d\n" % (connection, int.from_bytes(body[:2], "big")))


async def pass_on(reader, writer, connection, note):
    try:
        async for head, body in packets(reader):
            note(connection, head, body)
            writer.write(head + body)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError, OSError):
        pass
    writer.close()


async def serve(reader, writer):
    global count
    count += 1
    connection = count
    try:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", broker)
    except OSError:
        writer.close()
        return
    await asyncio.gather(
        pass_on(reader, far_writer, connection, note_publish),
        pass_on(far_reader, writer, connection, note_acknowledgement))


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", listening)
    print("ready", flush=True)
    async with server:
        await server.serve_forever()


asyncio.run(main())
