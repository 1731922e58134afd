// One process under measurement: started, stimulated through its descriptor 0, watched over a handler's board, ended.
import Glibc
import WakeModel
import WakeSystem

final class Subject {
    let name: String
    let pid: Int32
    private let device: FileDescriptor
    private let board: Board
    private let log: String
    private let cleanUp: () -> Void

    /// Starts a program, with its device as descriptor 0.
    init(_ name: String, _ words: [String], board path: String, cleanUp: @escaping () -> Void = {}) throws {
        self.name = name
        self.cleanUp = cleanUp
        board = try Board(at: path)
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw SystemError("make", "a socket pair", .last) }
        device = FileDescriptor(owning: ends[0])
        let theirs = FileDescriptor(owning: ends[1])
        try device.setNonblocking()
        log = path + ".log"
        pid = try Program.start(words, input: theirs.raw, log: log)
    }

    /// Wakes it so often and waits for the handler's read, so that the first measured wake is not the first of all. A bridge
    /// of a thousand handlers may still be reading its manifests.
    func warmUp(wakes: Int, spacing: TimeSpan) throws {
        for _ in 0..<wakes { _ = try wake(every: spacing, patience: .seconds(60)) }
    }

    struct Round {
        /// From just before the device's bytes are written to the handler's read returning, in microseconds.
        var latencies: [Double] = []
        /// How many wakes found the handler frozen.
        var frozen = 0
    }

    /// - Parameter isOfOne: the device that spoke last speaks again, each time.
    func round(wakes: Int, spacing: TimeSpan, isOfOne: Bool = false) throws -> Round {
        var round = Round()
        for _ in 0..<wakes {
            let wake = try wake(every: spacing, isOfOne ? BridgeUnderTest.again : BridgeUnderTest.frame)
            round.latencies.append(Double(wake.latency) / 1000)
            if wake.wasFrozen { round.frozen += 1 }
        }
        return round
    }

    private func wake(
        every spacing: TimeSpan, _ frame: [UInt8] = BridgeUnderTest.frame, patience: TimeSpan = .seconds(10)
    ) throws -> (latency: Int64, wasFrozen: Bool) {
        let (reads, resumed) = (board.reads, board.resumed)
        let start = try stimulate(frame)
        RealTime.reach(start + spacing)
        guard RealTime.wait(patience, every: .microseconds(500), until: { board.reads > reads }) else {
            throw failure("has not woken its handler within \(patience.seconds) s")
        }
        return (board.readAt - start.nanoseconds, board.resumed > resumed)
    }

    /// What it executes in one wake, once its handler is frozen.
    func step() throws -> Steps {
        for _ in 0..<5 {
            RealTime.pass(.milliseconds(50))
            let reads = board.reads
            let steps = try Steps(through: pid) { try stimulate() }
            guard RealTime.wait(.seconds(10), until: { board.reads > reads }) else {
                throw failure("has not woken its handler within 10 s")
            }
            if let steps { return steps }
        }
        throw failure("has not frozen its handler within 50 ms, five times")
    }

    /// Has its device speak once; tells when.
    @discardableResult
    func stimulate(_ frame: [UInt8] = BridgeUnderTest.frame) throws -> Instant {
        let start = SystemClock.monotonic()
        guard try device.write(frame) == .wrote(frame.count) else {
            throw failure("does not take what its device says")
        }
        return start
    }

    /// Speaks so often at so fixed a rate, whoever keeps up with it.
    func beat(_ count: Int, every spacing: TimeSpan) throws {
        let start = SystemClock.monotonic()
        for number in 0..<count {
            RealTime.reach(start + spacing * Int64(number))
            try stimulate()
        }
    }

    /// Says so much at once, in writes of `burst` frames, and waits until the handler has the last of it.
    func flood(frames: Int, burst: Int = 256) throws -> TimeSpan {
        let target = board.sequence + UInt64(frames)
        let start = SystemClock.monotonic()
        var left = frames
        while left > 0 {
            let bytes = Array(repeatElement(BridgeUnderTest.frame, count: min(burst, left)).joined())
            try writeAll(bytes)
            left -= min(burst, left)
        }
        guard RealTime.wait(.seconds(60), until: { board.sequence >= target }) else {
            throw failure("has delivered \(frames - Int(target - board.sequence)) of \(frames) events in 60 s")
        }
        return Instant(nanoseconds: board.readAt) - start
    }

    private func writeAll(_ bytes: [UInt8]) throws {
        var written = 0
        while written < bytes.count {
            switch try device.write(bytes, from: written) {
            case .wrote(let count): written += count
            case .wouldBlock:
                var room = pollfd(fd: device.raw, events: Int16(POLLOUT), revents: 0)
                poll(&room, 1, 1_000)
            case .closed: throw failure("has ended")
            }
        }
    }

    /// With the last that it said of itself.
    private func failure(_ what: String) -> Failure {
        let said = ((try? File.text(at: log)) ?? "").split(separator: "\n").last.map { ": \($0)" } ?? ""
        return Failure("\(name) \(what)\(said)")
    }

    /// Says end-of-file and waits for its end; what does not end is killed.
    func end() {
        shutdown(device.raw, Int32(SHUT_WR))
        Program.awaitEnd(of: pid)
        cleanUp()
    }
}
