// A message bus of the measurement's own, with an org.bluez that says what it is told, and who listens to it: all of
// them hear one and the same signal.
import Glibc
import WakeModel
import WakeSystem

final class BluetoothStage {
    static let strap = (address: "C0:F1:F2:F3:F4:01", path: "/org/bluez/hci99/dev_C0_F1_F2_F3_F4_01")

    let folder: String
    private let line: FileDescriptor
    private var guests: [Int32] = []
    private var heard: [UInt8] = []

    /// - Parameter sensors: how many broadcast; with none there is a strap.
    init(sensors: Int = 0) throws {
        folder = try MemoryFolder.make()
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw SystemError("make", "a socket pair", .last) }
        line = FileDescriptor(owning: ends[0])
        let theirs = FileDescriptor(owning: ends[1])
        do {
            try startBus()
            let words = [try Places.python(), try Places.peer("bluetoothd.py"), "\(sensors)"]
            try start(words, input: theirs.raw, "bluetoothd")
            guard try answer() == "ready" else { throw failure("bluetoothd", "is not ready") }
        } catch {
            end()
            throw error
        }
    }

    var environment: [String] { ["DBUS_SYSTEM_BUS_ADDRESS=unix:path=\(folder)/bus"] }

    private func startBus() throws {
        let null = try File.open("/dev/null", for: .read)
        let words = ["dbus-daemon", "--session", "--nofork", "--nopidfile", "--address=unix:path=\(folder)/bus"]
        try start(words, input: null.raw, "dbus-daemon")
        guard RealTime.wait(every: .milliseconds(5), until: { File.exists(folder + "/bus") }) else {
            throw failure("dbus-daemon", "does not listen")
        }
    }

    @discardableResult
    private func start(_ words: [String], input: Int32, _ name: String) throws -> Int32 {
        let pid = try Program.start(words, input: input, log: "\(folder)/\(name).log", environment: environment)
        guests.append(pid)
        return pid
    }

    /// A program of Python that has a board, and stays until the end.
    func invite(_ peer: String, _ words: [String]) throws -> Listener {
        let null = try File.open("/dev/null", for: .read)
        let board = "\(folder)/\(peer).board"
        let program = [try Places.python(), try Places.peer(peer), board]
        return Listener(pid: try start(program + words, input: null.raw, peer), board: try Board(at: board))
    }

    /// Has bluetoothd do something; returns what it says of it.
    @discardableResult
    func tell(_ command: String) throws -> Int64 {
        guard case .wrote = try line.write(Array("\(command)\n".utf8)), let number = Int64(try answer()) else {
            throw failure("bluetoothd", "does not do \(command)")
        }
        return number
    }

    /// Waits until so many listen, by what bluetoothd counts.
    func await(_ what: String, _ count: Int64) throws {
        guard try RealTime.wait(.seconds(20), every: .milliseconds(20), until: { try tell(what) >= count }) else {
            throw Failure("\(count) \(what) were awaited for 20 s, and \(try tell(what)) came: \(lastWords())")
        }
    }

    private func answer() throws -> String {
        while true {
            if let end = heard.firstIndex(of: UInt8(ascii: "\n")) {
                defer { heard.removeFirst(end + 1) }
                return String(decoding: heard[..<end], as: UTF8.self)
            }
            var ready = pollfd(fd: line.raw, events: Int16(POLLIN), revents: 0)
            guard poll(&ready, 1, 10_000) == 1, case .bytes = try line.read(appendingTo: &heard, limit: 4_096) else {
                throw failure("bluetoothd", "does not answer")
            }
        }
    }

    private func failure(_ name: String, _ what: String) -> Failure {
        Failure("the scripted \(name) \(what)\(lastWords(of: name).map { ": \($0)" } ?? "")")
    }

    private func lastWords(of name: String) -> String? {
        ((try? File.text(at: "\(folder)/\(name).log")) ?? "").split(separator: "\n").last.map(String.init)
    }

    private func lastWords() -> String {
        let names = ((try? Directory.names(in: folder)) ?? []).filter { $0.hasSuffix(".log") }.sorted()
        return names.compactMap { lastWords(of: String($0.dropLast(4))) }.joined(separator: "; ")
    }

    /// Everybody leaves, the bus last.
    func end() {
        for pid in guests.reversed() {
            kill(pid, SIGTERM)
            Program.awaitEnd(of: pid)
        }
        guests = []
        Directory.removeTree(folder)
    }
}

/// A process that hears what the stage says, and notes it on a board.
struct Listener {
    let pid: Int32
    let board: Board
}
