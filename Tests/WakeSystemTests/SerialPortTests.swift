// Serial lines, on pairs of terminals: their settings, exclusive use, that every byte passes, that an end is reported.
import Glibc
import TestBench
import Testing
import WakeModel

@testable import WakeSystem

@Suite("A serial line") struct SerialPortTests {
    init() { Signals.ignoreBrokenPipes() }

    @Test("is raw, at any speed, and what its driver does not take is told")
    func isSet() throws {
        let pty = try Pty()
        let line = LineSettings(
            baud: 3_000_000, dataBits: 7, parity: .even, stopBits: 2, flow: .hardware, dtr: .high, rts: .low)
        let port = try SerialPort(opening: pty.path, line, isExclusive: false)
        let found = try pty.settings()
        #expect(found.c_lflag == 0 && found.c_oflag == 0 && found.c_iflag == tcflag_t(IGNBRK))
        let wanted = tcflag_t(CLOCAL | CREAD | CSTOPB) | tcflag_t(CRTSCTS)
        #expect(found.c_cflag & (wanted | tcflag_t(HUPCL)) == wanted)
        #expect(found.c_cc.6 == 1 && found.c_cc.5 == 0, "VMIN and VTIME")
        // A pty carries bytes of eight bits, without parity, and has no modem lines.
        let told = port.deviations.map(\.description)
        #expect(
            told == [
                "DTR is missing, not high", "RTS is missing, not low", "data bits is 8, not 7",
                "parity is none, not even",
            ])
        let script =
            "import os,fcntl,sys,struct\n"
            + "print(struct.unpack('II',fcntl.ioctl(os.open(sys.argv[1],os.O_RDWR|os.O_NOCTTY),0x802c542a,bytes(44))[36:]))"
        #expect(try Child(["/usr/bin/python3", "-c", script, pty.path]).finish().output == "(3000000, 3000000)\n")
    }

    @Test("is set to what the classic speeds and the odd ones ask, with XON and XOFF where they are asked for")
    func takesSpeeds() throws {
        let pty = try Pty()
        for baud in [50, 1_200, 9_600, 31_250, 115_200, 921_600, 3_000_001] {
            let line = LineSettings(baud: baud, flow: .software, dtr: .low)
            #expect(try SerialPort(opening: pty.path, line, isExclusive: true).deviations.map(\.setting) == ["DTR"])
        }
        #expect(try pty.settings().c_iflag & tcflag_t(IXON | IXOFF) == tcflag_t(IXON | IXOFF))
        // Only where DTR is to be low may it fall when the port is closed.
        #expect(try pty.settings().c_cflag & tcflag_t(HUPCL) == tcflag_t(HUPCL))
    }

    @Test("may miss its speed by 3 %, not more")
    func comparesSpeeds() {
        #expect(LineDeviation.isSameSpeed(100_000, 103_000) && LineDeviation.isSameSpeed(100_000, 97_000))
        #expect(!LineDeviation.isSameSpeed(100_000, 103_001) && !LineDeviation.isSameSpeed(100_000, 96_999))
        #expect(LineDeviation.isSameSpeed(4_000_000_000, 4_000_000_000) && !LineDeviation.isSameSpeed(1, 4_000_000_000))
    }

    @Test("of impossible settings is refused with a reason")
    func refusesSettings() throws {
        let pty = try Pty()
        var lines = [LineSettings(baud: 0), LineSettings(baud: -1), LineSettings(baud: 1 << 40)]
        lines += [
            LineSettings(dataBits: 4), LineSettings(dataBits: 9), LineSettings(stopBits: 0), LineSettings(stopBits: 3),
        ]
        for line in lines { #expect(fault(pty.path, line)?.errno == .invalid) }
    }

    @Test("that is no line, or is not there, is told with its error")
    func refusesOthers() throws {
        #expect(fault("/dev/no-such-line")?.errno == .noEntry)
        #expect(fault("/dev/null")?.description.contains("it is no serial line") == true)
        #expect(fault("/dev/null")?.errno.code == ENOTTY)
    }

    @Test("passes every byte as it is, in chunks of any size, both ways", arguments: [1, 2, 3] as [UInt64])
    func carriesBytes(seed: UInt64) throws {
        let pty = try Pty()
        let port = try SerialPort(opening: pty.path, LineSettings(baud: 3_000_000), isExclusive: true)
        var dice = Dice(seed)
        let bytes = (0..<100_000).map { $0 < 512 ? UInt8($0 & 255) : UInt8(dice.below(256)) }
        let read = try carry(
            bytes, chunk: { 1 + dice.below(700) }, write: { try pty.master.write($0) },
            read: { try port.read(limit: 1 + dice.below(700)) })
        #expect(read == bytes)
        let written = try carry(
            bytes, chunk: { 1 + dice.below(9000) }, write: { try port.write($0) },
            read: { try pty.master.readNode("the master", limit: 4096) })
        #expect(written == bytes)
    }

    @Test("whose device does not read accepts bytes while there is room, then never blocks, and loses nothing")
    func fills() throws {
        let pty = try Pty()
        let port = try SerialPort(opening: pty.path, LineSettings(), isExclusive: false)
        let block = [UInt8](repeating: 0x55, count: 3000)
        var (taken, isCut) = (0, false)
        // The kernel moves what it has taken along, which makes room once more.
        _ = try Patience.wait {
            var answer = try port.write(block[...])
            while case .wrote(let count) = answer {
                taken += count
                isCut = isCut || count < block.count
                answer = try port.write(block[...])
            }
            #expect(answer == .wouldBlock)
            return isCut
        }
        #expect(taken > 0 && isCut, "the last one was taken in part")
        var arrived = 0
        _ = try Patience.wait {
            while case .content(let bytes) = try pty.master.readNode("the master", limit: 4096) {
                arrived += bytes.count
            }
            return arrived >= taken
        }
        #expect(arrived == taken)
    }

    @Test("begins with what comes after it was opened")
    func flushes() throws {
        let pty = try Pty()
        let before = try FileDescriptor.openNode(pty.path)
        #expect(try pty.master.write(Array("stale\n".utf8)) == .wrote(6))
        var state = pollfd(fd: before.raw, events: Int16(POLLIN), revents: 0)
        #expect(poll(&state, 1, 5000) == 1)
        let port = try SerialPort(opening: pty.path, LineSettings(), isExclusive: false)
        #expect(try port.read() == .wouldBlock)
        #expect(try pty.master.write(Array("fresh".utf8)) == .wrote(5))
        var first = NodeReading<[UInt8]>.wouldBlock
        _ = try Patience.wait {
            first = try port.read()
            return first != .wouldBlock
        }
        #expect(first == .content(Array("fresh".utf8)))
    }

    @Test("whose device is gone is closed for reading and for writing")
    func closes() throws {
        let pty = try Pty()
        let port = try SerialPort(opening: pty.path, LineSettings(), isExclusive: true)
        #expect(try port.read() == .wouldBlock)
        pty.hangUp()
        #expect(try port.read() == .closed)
        #expect(try port.write([1]) == .closed)
    }

    @Test("that is shared, and set by another so that an empty line reads as its end, has not hung up")
    func reads() throws {
        let pty = try Pty()
        let port = try SerialPort(opening: pty.path, LineSettings(), isExclusive: false)
        var settings = try pty.settings()
        // VMIN.
        settings.c_cc.6 = 0
        try #require(tcsetattr(port.raw, TCSANOW, &settings) == 0)
        #expect(try port.read() == .wouldBlock)
        #expect(try pty.master.write(Array("a".utf8)) == .wrote(1))
        var first = NodeReading<[UInt8]>.wouldBlock
        _ = try Patience.wait {
            first = try port.read()
            return first != .wouldBlock
        }
        #expect(first == .content(Array("a".utf8)))
        pty.hangUp()
        #expect(try port.read() == .closed)
    }

    @Test("is close-on-exec and never waits")
    func isBornSafe() throws {
        let pty = try Pty()
        let port = try SerialPort(opening: pty.path, LineSettings(), isExclusive: false)
        #expect(fcntl(port.raw, F_GETFD) & FD_CLOEXEC == FD_CLOEXEC)
        #expect(fcntl(port.raw, F_GETFL) & O_NONBLOCK == O_NONBLOCK)
    }

    @Test(
        "had exclusively is refused to all others with EBUSY, root's programs by its lock, and is free again afterwards"
    )
    func excludes() throws {
        let pty = try Pty()
        chmod(pty.path, 0o666)
        do {
            let port = try SerialPort(opening: pty.path, LineSettings(), isExclusive: true)
            #expect(fault(pty.path, isExclusive: true)?.errno == .busy)
            // Root itself would be let in by the kernel.
            #expect(fault(pty.path)?.errno == .busy)
            #expect(fault(pty.path)?.description.contains("another program has it for itself") == true)
            if Machine.isRoot { #expect(try others(pty.path) == "locked EBUSY\n") }
            #expect(try port.read() == .wouldBlock)
        }
        #expect(fault(pty.path, isExclusive: true) == nil)
        if Machine.isRoot { #expect(try others(pty.path) == "unlocked open\n") }
    }

    @Test("that is shared may be opened by many, but not where one has locked it and another wants it alone")
    func shares() throws {
        let pty = try Pty()
        let one = try SerialPort(opening: pty.path, LineSettings(), isExclusive: false)
        let two = try SerialPort(opening: pty.path, LineSettings(), isExclusive: false)
        #expect(one.raw != two.raw)
        let stranger = try FileDescriptor.openNode(pty.path)
        try #require(clinuxLock(stranger.raw))
        #expect(fault(pty.path, isExclusive: true)?.errno == .busy)
        #expect(fault(pty.path) == nil)
    }

    @Test("is free at once when its owner releases it, even while a copy of its descriptor is open")
    func freesDespiteCopies() throws {
        let pty = try Pty()
        var copy: Int32 = -1
        do {
            let port = try SerialPort(opening: pty.path, LineSettings(), isExclusive: true)
            copy = fcntl(port.raw, F_DUPFD_CLOEXEC, 3)
        }
        defer { close(copy) }
        #expect(fault(pty.path, isExclusive: true) == nil)
    }

    @Test("that is closed to this user is told with what lets it be opened")
    func isClosed() throws {
        let directory = try Directory.makeTemporary(prefix: "wakenode")
        defer { Directory.removeTree(directory) }
        put("", at: directory + "/node", mode: 0)
        let told = try Child(Machine.withoutOverride + [Built.nodeReader, "hid", directory + "/node"]).finish().output
        let reason = "could not open \(directory)/node: Permission denied (EACCES)"
        #expect(told == reason + "; install the udev rules and join their group: wakebridge doctor\n")
    }

    /// What opening it throws.
    private func fault(
        _ path: String, _ line: LineSettings = LineSettings(), isExclusive: Bool = false
    ) -> SystemError? {
        do throws(SystemError) {
            _ = try SerialPort(opening: path, line, isExclusive: isExclusive)
            return nil
        } catch { return error }
    }

    /// What a program of root's finds that takes the lock, and what one without rights does.
    private func others(_ path: String) throws -> String {
        let script = """
            import fcntl, os, sys, errno
            port = os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY)
            try:
                fcntl.flock(port, fcntl.LOCK_EX | fcntl.LOCK_NB)
                print("unlocked", end=" ")
            except BlockingIOError: print("locked", end=" ")
            os.close(port)
            os.setuid(65534)
            try:
                os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY)
                print("open")
            except OSError as error: print(errno.errorcode[error.errno])
            """
        return try Child(["/usr/bin/python3", "-c", script, path]).finish().output
    }
}

private func clinuxLock(_ descriptor: Int32) -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }
