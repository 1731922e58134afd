// The connection with the daemon: lines both ways. It may end at any time, and nothing is lost by that.
import WakeLoop
import WakeModel
import WakeSystem
import WakeTransfer

final class DaemonLine {
    private let socket: FileDescriptor
    private unowned let server: TransferServer
    private var watch: Watch?
    private var lines = LineSplitter(limit: 64 << 10)
    private var unsent: [UInt8] = []

    /// A daemon that has not read this much is disconnected: it gets all reports when it comes back.
    private static let mostUnsent = 4 << 20
    private static let chunk = 64 << 10

    init(_ socket: consuming FileDescriptor, on loop: EventLoop, of server: TransferServer) throws(SystemError) {
        self.socket = socket
        self.server = server
        watch = try loop.watch(self.socket.raw, for: .readable, of: self) { $0.attend() }
    }

    func send(_ line: [UInt8]) {
        guard unsent.count <= Self.mostUnsent else { return server.lineEnded() }
        unsent += line
        flush()
    }

    private func attend() {
        flush()
        read()
    }

    private func flush() {
        while !unsent.isEmpty {
            guard case .wrote(let count)? = try? socket.send(unsent[...]) else { break }
            unsent.removeFirst(count)
        }
        try? watch?.setReadiness(unsent.isEmpty ? .readable : [.readable, .writable])
    }

    private func read() {
        var bytes: [UInt8] = []
        switch try? socket.read(appendingTo: &bytes, limit: Self.chunk) {
        case .bytes: lines.append(bytes)
        case .wouldBlock: return
        case .endOfFile, .closed, nil: return server.lineEnded()
        }
        while let next = lines.next() {
            if case .success(let line) = next, let command = AddressedCommand(line: line) { server.hear(command) }
        }
    }
}
