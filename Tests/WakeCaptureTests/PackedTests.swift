// Recordings inside gzip, zip and bug reports, made by Python's own modules; and what is no recording at all.
import TestBench
import Testing
import WakeModel

@testable import WakeCapture

@Suite("Packed recordings") struct PackedTests {
    private let folder = CaptureFolder()

    /// A btsnoop file of the strap.
    static var btsnoop: [UInt8] {
        var writer = BtsnoopWriter(.h4)
        let start = WallTime(microseconds: 1_795_000_000_000_000)
        for (number, packet) in MadeStrap.hci.enumerated() {
            let time = start + .milliseconds(Int64(number) * 10)
            writer.add(packet.bytes, flags: packet.isReceived ? 1 : 0, at: time)
        }
        return writer.bytes
    }

    /// Runs Python on the strap's capture, which it finds as `capture`, and returns what it wrote to `out`.
    private func made(_ program: String) throws -> [UInt8] {
        put(Self.btsnoop, at: folder.file("in"))
        let head = "import gzip, zipfile, zlib, base64, random, struct, io\ncapture = open('in', 'rb').read()\n"
        put(head + program, at: folder.file("make.py"))
        let outcome = try Child(["/bin/sh", "-c", "cd '\(folder.path)' && python3 make.py"]).finish()
        try #require(outcome.exit == 0, "\(outcome.talk)")
        return bytes(of: folder.file("out"))
    }

    @Test("a capture in gzip, in two pieces of gzip, and in gzip twice")
    func gzip() throws {
        let programs = [
            "open('out', 'wb').write(gzip.compress(capture))",
            "open('out', 'wb').write(gzip.compress(capture[:500]) + gzip.compress(capture[500:]))",
            "open('out', 'wb').write(gzip.compress(gzip.compress(capture)))",
        ]
        for program in programs { MadeStrap.expectAll(try TraceImport.run(try made(program)), program) }
    }

    private func gzipped(_ recording: [UInt8]) throws -> [UInt8] {
        put(recording, at: folder.file("plain"))
        #expect(try Child(["gzip", "--force", folder.file("plain")]).finish().exit == 0)
        return bytes(of: folder.file("plain.gz"))
    }

    private func parts(_ bytes: [UInt8]) throws -> [RecordingKind] {
        var recording = TraceImport()
        try recording.add(HeldBytes(bytes))
        return try recording.finish().parts.map(\.kind)
    }

    @Test(
        "a recording of each kind is listed as what it is, and is the same out of gzip",
        arguments: madeRecordings.map(\.name))
    func eachKind(name: String) throws {
        let bytes = try #require(madeRecordings.first { $0.name == name }).bytes
        let packed = try gzipped(bytes)
        let kinds = try parts(packed)
        #expect(
            try kinds.map(\.words) == ["gzip", String(name.prefix { $0 != "," })] && parts(bytes) == kinds.suffix(1))
        #expect(try TraceImport.run(packed).trace == TraceImport.run(bytes).trace)
    }

    @Test("bytes of a serial line come out of gzip too")
    func serial() throws {
        var terms = ImportTerms()
        terms.isSerial = true
        let bytes = Array("ST,GS,+0012.5kg\r\n".utf8)
        #expect(try TraceImport.run(try gzipped(bytes), terms).trace == TraceImport.run(bytes, terms).trace)
    }

    @Test("of a packed recording that was cut, --partial keeps what stands before", arguments: ["gzip", "zip", "log"])
    func partial(form: String) throws {
        let programs = [
            "gzip": "open('out', 'wb').write(gzip.compress(capture))",
            "zip": "z = zipfile.ZipFile('out', 'w', zipfile.ZIP_STORED); z.writestr('b.log', capture); z.close()",
            "log": Self.bugReport(version: 2),
        ]
        let (whole, bytes) = (try TraceImport.run(Self.btsnoop), try made(try #require(programs[form])))
        var most = 0
        for length in stride(from: bytes.count / 2, to: bytes.count - (form == "zip" ? 80 : 60), by: 13) {
            let part = try TraceImport.run(Array(bytes.prefix(length)), partial: true)
            #expect(part.cut != nil, "\(form) cut after \(length) bytes")
            #expect(part.operations.map(\.kind) == whole.operations.prefix(part.operations.count).map(\.kind))
            most = max(most, part.operations.count)
        }
        #expect(most > 0 && most < whole.operations.count)
    }

    @Test(
        "of a packed recording whose check does not fit, --partial keeps all that was unpacked",
        arguments: [false, true])
    func damaged(isSerial: Bool) throws {
        var terms = ImportTerms()
        terms.isSerial = isSerial
        let plain = isSerial ? Array("ST,GS,+0012.5kg\r\n".utf8) : Self.btsnoop
        let whole = try TraceImport.run(plain, terms)
        var packed = try gzipped(plain)
        packed[packed.count - 8] ^= 1
        #expect(thrown(ImportError.self) { try TraceImport.run(packed, terms) }?.reason.contains("damaged") == true)
        terms.partial = true
        let part = try TraceImport.run(packed, terms)
        #expect(part.trace == whole.trace && part.cut != nil)
    }

    @Test("a long recording in gzip within an archive that packs it no further is no bomb")
    func stored() throws {
        let program = """
            section = struct.pack('<IIIHHqI', 0x0a0d0d0a, 28, 0x1a2b3c4d, 1, 0, -1, 28)
            head = gzip.compress(section + struct.pack('<II', 0x0bad, 8 + 4096 * 17000))
            zeros = gzip.compress(bytes(4096), mtime=0)
            z = zipfile.ZipFile('out', 'w', zipfile.ZIP_STORED)
            z.writestr('long.pcapng.gz', head + zeros * 17000); z.close()
            """
        var terms = ImportTerms()
        terms.member = "long.pcapng.gz"
        #expect(try TraceImport.run(try made(program), terms).operations.isEmpty)
    }

    @Test("of an archive that was cut behind its recording, --partial keeps the recording")
    func partialArchive() throws {
        let program = """
            z = zipfile.ZipFile('out', 'w', zipfile.ZIP_DEFLATED)
            z.writestr('b.log', capture); z.writestr('c.txt', random.Random(1).randbytes(2000)); z.close()
            """
        let bytes = Array(try made(program).dropLast(400))
        #expect(thrown(ImportError.self) { try TraceImport.run(bytes) }?.isCut == true)
        let part = try TraceImport.run(bytes, partial: true)
        MadeStrap.expectAll(part, "archive")
        #expect(part.cut?.isCut == true)
    }

    @Test("a bug report whose log lies in a folder of it, packed, stored, and streamed")
    func bugReport() throws {
        let path = "FS/data/misc/bluetooth/logs/btsnoop_hci.log"
        let forms = [
            "z = zipfile.ZipFile('out', 'w', zipfile.ZIP_DEFLATED)",
            "z = zipfile.ZipFile('out', 'w', zipfile.ZIP_STORED)",
            """
            class Pipe(io.RawIOBase):
                def __init__(self): self.file = open('out', 'wb')
                def writable(self): return True
                def write(self, b): return self.file.write(b)
                def flush(self): self.file.flush()
            z = zipfile.ZipFile(Pipe(), 'w', zipfile.ZIP_DEFLATED)
            """,
        ]
        for form in forms {
            let rest = """
                z.writestr('version.txt', '2.0')
                z.writestr('main_entry.txt', 'bugreport.txt')
                z.writestr('\(path)', capture)
                z.writestr('bugreport.txt', '== dumpstate: 2026-08-31\\n' + 'x' * 100000)
                z.close()
                """
            MadeStrap.expectAll(try TraceImport.run(try made(form + "\n" + rest)), form)
        }
    }

    @Test(
        "a log in the text of a bug report, in both versions, has the times that count back from its last",
        arguments: [1, 2])
    func btsnooz(version: Int) throws {
        let (direct, packed) = (
            try TraceImport.run(Self.btsnoop), try TraceImport.run(try made(Self.bugReport(version: version)))
        )
        MadeStrap.expectAll(packed, "version \(version)")
        #expect(packed.header.start == direct.header.start)
        #expect(packed.operations.map(\.offset) == direct.operations.map(\.offset))
    }

    private static func bugReport(version: Int) -> String {
        """
        place, out, last = 16, b'', 0
        previous = None
        while place < len(capture):
            original, length, flags, drops, stamp = struct.unpack('>IIIIq', capture[place:place + 24])
            packet = capture[place + 24:place + 24 + length]
            place += 24 + length
            time = stamp - 0x00dcddb30f2f8000
            kind = {1: 0x20, 2: 0x11 if flags & 1 else 0x21, 4: 0x10}[packet[0]]
            delta = 0 if previous is None else time - previous
            previous = time
            if \(version) == 1: out += struct.pack('<HIB', len(packet), delta, kind) + packet[1:]
            else: out += struct.pack('<HHIB', len(packet), len(packet), delta, kind) + packet[1:]
        log = base64.b64encode(struct.pack('<BQ', \(version), previous) + zlib.compress(out)).decode()
        lines = [log[i:i + 76] for i in range(0, len(log), 76)]
        text = ['== dumpstate: 2026', '--- BEGIN:BTSNOOP_LOG_SUMMARY (99 bytes in) ---'] + lines
        text += ['--- END:BTSNOOP_LOG_SUMMARY ---', 'more', '']
        open('out', 'w').write('\\n'.join(text))
        """
    }

    @Test("bombs are refused with the offset, in gzip and in zip, and nothing unpacks without end")
    func bombs() throws {
        let programs = [
            "open('out', 'wb').write(gzip.compress(capture + bytes(200 << 20)))",
            """
            z = zipfile.ZipFile('out', 'w', zipfile.ZIP_DEFLATED)
            z.writestr('a', bytes(200 << 20)); z.writestr('b.log', capture); z.close()
            """,
        ]
        for program in programs {
            let bomb = try made(program)
            #expect(bomb.count < 1 << 20)
            let error = thrown(ImportError.self) { try TraceImport.run(bomb) }
            #expect(error?.reason.contains("200 times") == true, "\(error?.description ?? "")")
        }
    }

    @Test("layers of gzip that are harmless one by one are a bomb together")
    func nestedBomb() throws {
        let bomb = try made(
            """
            section = struct.pack('<IIIHHqI', 0x0a0d0d0a, 28, 0x1a2b3c4d, 1, 0, -1, 28)
            head = gzip.compress(section + struct.pack('<II', 0x0bad, 100 << 20))
            zeros = gzip.compress(bytes(4096), mtime=0)
            open('out', 'wb').write(gzip.compress(head + zeros * 24000))
            """)
        let error = thrown(ImportError.self) { try TraceImport.run(bomb) }
        #expect(error?.reason.contains("200 times") == true, "\(error?.description ?? "")")
    }

    @Test("an archive cut anywhere is an error, or what stands before the cut", arguments: ["gzip", "zip"])
    func cuts(form: String) throws {
        let program =
            form == "gzip"
            ? "open('out', 'wb').write(gzip.compress(capture))"
            : "z = zipfile.ZipFile('out', 'w', zipfile.ZIP_DEFLATED); z.writestr('b.log', capture); z.close()"
        let whole = try made(program)
        // Nothing is read of an archive's directory, at its end.
        let directory = whole.indices.first { whole[$0...].starts(with: Array("PK\u{1}\u{2}".utf8)) }
        for length in stride(from: 1, to: directory ?? whole.count, by: 3) {
            let error = thrown(ImportError.self) { try TraceImport.run(Array(whole.prefix(length))) }
            #expect(error != nil, "cut after \(length) bytes")
        }
    }

    @Test(
        "What cannot be imported is named for what it is",
        arguments: [
            ([], "empty"), (Array("btsn".utf8), "cut inside"), ([1, 2, 3], "no recording"),
            (Array("btsnoop\0".utf8) + [0, 0, 0, 2, 0, 0, 3, 234], "version 2"),
            (Array("btsnoop\0".utf8) + [0, 0, 0, 1, 0, 0, 3, 235], "data link 1003"),
            (Array("wakebridge-trace 1\n".utf8), "a trace already"),
            (Array("(1436509052.249713) vcan0 044#2A36\n".utf8), "candump"),
            ([0x0a, 0x0d, 0x0d, 0x0a], "cut inside"), ([0xd4, 0xc3, 0xb2, 0xa1], "cut inside"),
        ] as [([UInt8], String)])
    func refused(bytes: [UInt8], reason: String) {
        let error = thrown(ImportError.self) { try TraceImport.run(bytes) }
        #expect(error?.reason.contains(reason) == true, "\(error?.description ?? "")")
    }
}
