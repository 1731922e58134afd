// A user's `wakebridge-transferd`: found by its socket or started, sent orders, and read. It outlives the daemon.
import WakeEngine
import WakeLoop
import WakeModel
import WakeSystem
import WakeTransfer

/// The receiver of a link's news.
protocol TransferListener: AnyObject {
    func hear(_ news: AddressedNews, from link: TransferLink)
}

final class TransferLink {
    private enum State {
        case idle
        /// It detaches itself, and holds the socket then.
        case starting(BackgroundJob<Result<Int32, SystemError>>, FileHolder, Watch?)
        case connected(FileHolder, Watch?)
        /// It cannot be started now.
        case resting
    }

    /// An enumeration holds no descriptor of its own in Swift 6.0.
    private final class FileHolder: Sendable {
        let file: FileDescriptor
        init(_ file: consuming FileDescriptor) { self.file = file }
    }

    /// That a transfer is over, and its part is to be removed.
    private struct Removal {
        var line: [UInt8]
        /// The handler's directory; empty where another user's program must not look into it.
        var directory: String
        /// The number of programs that it was sent to.
        var attempts = 0

        /// A part that three programs could not remove stays.
        func isOwed(for id: TransferID) -> Bool {
            attempts < 3 && !directory.isEmpty && TransferLink.isLeft(of: id, in: directory)
        }
    }

    let user: TransferUser
    private let path: String
    private let lockPath: String
    private let loop: EventLoop
    private unowned let listener: any TransferListener
    private var state = State.idle
    /// Running transfers with their orders: a program that had to be started again knows nothing of them.
    private var starts: [TransferID: [UInt8]] = [:]
    /// Cancellations that are not sent yet.
    private var ends: [TransferID: Removal] = [:]
    /// Cancellations sent on this connection. A program that dies may not have read them.
    private var saidEnds: [TransferID: Removal] = [:]
    private var connectedAt = Instant.zero
    private var lines = LineSplitter(limit: 64 << 10)
    private var unsent: [UInt8] = []
    private var timer: Timer?
    private var backOff = BackOff(from: .milliseconds(500), to: .seconds(60))
    private let log = Log("transfers")

    private static let chunk = 64 << 10
    /// The number of sent cancellations to remember before the files are looked for.
    private static let saidLimit = 1_024
    /// A program that lived so long is started again at once.
    private static let soundLife = TimeSpan.seconds(60)

    /// - Parameters:
    ///   - path: of its socket.
    ///   - lockPath: of a file that outlives the socket, and that one program of the user locks.
    init(
        of user: TransferUser, at path: String, lockedBy lockPath: String, on loop: EventLoop,
        for listener: any TransferListener
    ) throws(SystemError) {
        (self.user, self.path, self.lockPath) = (user, path, lockPath)
        (self.loop, self.listener) = (loop, listener)
        timer = try loop.timer(on: .monotonic, of: self) { $0.begin() }
    }

    // MARK: Asking

    var isConnected: Bool {
        switch state {
        case .connected: true
        case .idle, .starting, .resting: false
        }
    }

    /// It was asked to.
    func moves(_ id: TransferID) -> Bool { starts[id] != nil }

    func send(_ command: TransferCommand, for id: TransferID, in directory: String) {
        let line = command.line(for: id, in: directory)
        switch command {
        case .start: starts[id] = line
        case .pause: starts[id] = nil
        case .cancel, .confirm: (starts[id], ends[id]) = (nil, Removal(line: line, directory: directory))
        case .answer: break
        }
        switch state {
        case .connected:
            if let removal = ends.removeValue(forKey: id) { remember([id: removal]) }
            unsent += line
            flush()
        // The program gets it with all others when it is there.
        case .idle: begin()
        case .starting, .resting: break
        }
    }

    /// Joins one that is there from an earlier life; false where there is none.
    func join() -> Bool {
        guard let socket = try? UnixSocket.connect(to: path) else { return false }
        connect(socket)
        return true
    }

    // MARK: Starting

    private func begin() {
        timer?.disarm()
        state = .idle
        guard !starts.isEmpty || !ends.isEmpty, !join() else { return }
        do throws(SystemError) {
            let socket = FileHolder(try UnixSocket.listen(at: path))
            let lock = FileHolder(try File.open(lockPath, for: .create))
            let (command, scope) = (try TransferProgram.command(for: user), TransferProgram.scope(of: user))
            let job = try BackgroundJob {
                TransferProgram.run(command, in: scope, socket: socket.file.raw, lock: lock.file.raw)
            }
            state = .starting(
                job, socket, try loop.watch(job.raw, for: .readable, cause: .transfer, of: self) { $0.finishStart() })
        } catch {
            rest(error.description)
        }
    }

    private func finishStart() {
        guard case .starting(let job, _, _) = state, let result = job.removeResult() else { return }
        state = .idle
        switch result {
        case .success(0): if !join() { rest("it ended at once") }
        case .success(let status): rest("it ended with status \(status)")
        case .failure(let error): rest(error.description)
        }
    }

    private func rest(_ why: String) {
        let wait = backOff.next()
        state = .resting
        let whose = "the transfers of user \(user.number)"
        log.error("\(whose) wait: wakebridge-transferd does not run: \(why); it is tried again")
        timer?.arm(at: SystemClock.monotonic() + wait)
    }

    // MARK: The connection

    private func connect(_ socket: consuming FileDescriptor) {
        let holder = FileHolder(socket)
        let watch = try? loop.watch(holder.file.raw, for: .readable, cause: .transfer, of: self) { $0.attend() }
        state = .connected(holder, watch)
        lines = LineSplitter(limit: 64 << 10)
        connectedAt = SystemClock.monotonic()
        unsent = ends.values.flatMap(\.line) + starts.sorted { $0.key < $1.key }.flatMap(\.value)
        remember(ends)
        ends = [:]
        flush()
    }

    private func remember(_ removals: [TransferID: Removal]) {
        for (id, removal) in removals {
            saidEnds[id] = removal
            saidEnds[id]?.attempts += 1
        }
        guard saidEnds.count > Self.saidLimit else { return }
        saidEnds = saidEnds.filter { $0.value.isOwed(for: $0.key) }
    }

    /// Whether something of it is not removed yet.
    static func isLeft(of id: TransferID, in directory: String) -> Bool {
        ["part", "json"].contains { File.exists("\(directory)/\(TransferPath.parts)/\(id.number).\($0)") }
    }

    private func attend() {
        flush()
        guard case .connected(let holder, _) = state else { return }
        var bytes: [UInt8] = []
        switch try? holder.file.read(appendingTo: &bytes, limit: Self.chunk) {
        case .bytes: lines.append(bytes)
        case .wouldBlock: return
        case .endOfFile, .closed, nil: return lose()
        }
        while let next = lines.next() {
            guard case .success(let line) = next, let news = AddressedNews(line: line) else { continue }
            // A program that crashes after its first words must not be started for ever.
            if case .ended = news.news { backOff.reset() }
            listener.hear(news, from: self)
        }
    }

    private func flush() {
        guard case .connected(let holder, let watch) = state else { return }
        while !unsent.isEmpty {
            guard case .wrote(let count)? = try? holder.file.send(unsent[...]) else { break }
            unsent.removeFirst(count)
        }
        try? watch?.setReadiness(unsent.isEmpty ? .readable : [.readable, .writable])
    }

    /// It ended: by itself, having nothing to do, or by another's doing.
    private func lose() {
        (state, unsent) = (.idle, [])
        if SystemClock.monotonic() - connectedAt >= Self.soundLife { backOff.reset() }
        ends = saidEnds.filter { $0.value.isOwed(for: $0.key) }
        saidEnds = [:]
        guard !starts.isEmpty || !ends.isEmpty else { return }
        state = .resting
        timer?.arm(at: SystemClock.monotonic() + backOff.next())
    }
}
