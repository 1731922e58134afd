// The transfers of one user's handlers, and the connection of the daemon that orders them: one at a time, on its
// socket.
import Glibc
import WakeLoop
import WakeModel
import WakeSystem
import WakeTransfer

final class TransferServer {
    private let loop: EventLoop
    private let multi: CurlMulti
    private let listener: FileDescriptor
    private var listening: Watch?
    private var line: DaemonLine?
    private var transfers: [TransferID: FileTransfer] = [:]
    private var folders: [String: PartFolder] = [:]
    /// Orders that could not be begun for now, and the directories of their files.
    private var postponed: [TransferID: (order: TransferOrder, directory: String)] = [:]
    private var postponedTimer: Timer?
    private var hosts = HostSlots()
    private var progressTimer: Timer?
    private var idleTimer: Timer?
    private var signals: [SignalWatch] = []
    private let log = Log("transfers")

    private static let progressEvery = TimeSpan.seconds(2)
    /// With no transfer and no report, it ends after this.
    private static let longestIdle = TimeSpan.seconds(60)
    private static let postponement = TimeSpan.seconds(10)

    init(listeningOn raw: Int32) throws(SystemError) {
        listener = FileDescriptor(owning: raw)
        loop = try EventLoop()
        multi = try CurlMulti(on: loop)
        listening = try loop.watch(raw, for: .readable, of: self) { $0.accept() }
        progressTimer = try loop.timer(on: .monotonic, of: self) { $0.reportProgress() }
        postponedTimer = try loop.timer(on: .monotonic, of: self) { $0.startPostponed() }
        idleTimer = try loop.timer(on: .monotonic, of: self) { $0.endIfIdle() }
        for number in [SIGTERM, SIGINT] { signals.append(try loop.onSignal(number, of: self) { $0.end() }) }
        idleTimer?.arm(at: SystemClock.monotonic() + Self.longestIdle)
    }

    func run() throws(SystemError) -> Int32 { try loop.run() }

    /// Keeps the received bytes.
    private func end() {
        for transfer in transfers.values { transfer.pause() }
        for transfer in transfers.values { transfer.waitForDisk() }
        loop.stop()
    }

    private var isIdle: Bool { transfers.isEmpty && postponed.isEmpty }

    private func endIfIdle() { if isIdle { end() } }

    private func accept() {
        do throws(SystemError) {
            guard let socket = try UnixSocket.accept(on: listener) else { return }
            line = try DaemonLine(socket, on: loop, of: self)
        } catch {
            log.error("\(error.description); the daemon will try again")
        }
        for (id, transfer) in transfers.sorted(by: { $0.key < $1.key }) { line?.send(transfer.standing.line(of: id)) }
        for (handler, folder) in folders { reportKept(of: handler, folder) }
    }

    func lineEnded() { line = nil }

    // MARK: Commands

    func hear(_ command: AddressedCommand) {
        let id = command.id
        switch command.command {
        case .start(let order): start(order, id, in: command.directory)
        case .pause:
            postponed[id] = nil
            transfers[id]?.pause()
        case .cancel, .confirm:
            transfers[id]?.cancel()
            forget(id, in: command.directory)
        case .answer(let credential): transfers[id]?.answer(credential)
        }
    }

    private func start(_ order: TransferOrder, _ id: TransferID, in directory: String) {
        idleTimer?.disarm()
        do throws(SystemError) {
            if transfers[id] == nil { transfers[id] = try make(order, id, in: directory) }
            postponed[id] = nil
            transfers[id]?.start()
        } catch {
            guard let failure = error.word else { return postpone(order, id, in: directory, because: error) }
            log.error("\(error.description); \(order.path) of \(id.handler) cannot be transferred")
            line?.send(TransferNews.ended(TransferResult(failure: failure)).line(of: id))
        }
    }

    private func postpone(_ order: TransferOrder, _ id: TransferID, in directory: String, because error: SystemError) {
        log.warning("\(error.description); \(order.path) of \(id.handler) is begun later")
        postponed[id] = (order, directory)
        postponedTimer?.arm(at: SystemClock.monotonic() + Self.postponement)
        let news = TransferNews.retries(in: Self.postponement, because: error.errno.description)
        line?.send(news.line(of: id))
    }

    private func startPostponed() { for (id, what) in postponed { start(what.order, id, in: what.directory) } }

    private func make(_ order: TransferOrder, _ id: TransferID, in directory: String) throws(SystemError)
        -> FileTransfer
    {
        let folder = try folder(for: id, in: directory)
        return try FileTransfer(id, order, in: folder, on: loop, multi, of: self)
    }

    private func folder(for id: TransferID, in directory: String) throws(SystemError) -> PartFolder {
        if let known = folders[id.handler] { return known }
        let folder = try PartFolder(in: directory)
        folders[id.handler] = folder
        reportKept(of: id.handler, folder, but: id.number)
        return folder
    }

    /// Reports parts of an earlier life: the daemon knows whether they are still wanted.
    private func reportKept(of handler: String, _ folder: PartFolder, but number: Int64? = nil) {
        for kept in folder.numbers where kept != number && transfers[TransferID(handler, kept)] == nil {
            line?.send(TransferNews.held.line(of: TransferID(handler, kept)))
        }
    }

    /// - Parameter directory: of a handler that may have no order here; empty if it is not known.
    private func forget(_ id: TransferID, in directory: String) {
        (transfers[id], postponed[id]) = (nil, nil)
        let folder = directory.isEmpty ? folders[id.handler] : (try? folder(for: id, in: directory))
        folder?.forget(id.number)
        if isIdle { idleTimer?.arm(at: SystemClock.monotonic() + Self.longestIdle) }
    }

    private func reportProgress() {
        guard hosts.isBusy else { return }
        for (id, transfer) in transfers {
            if let progress = transfer.progress { line?.send(progress.line(of: id)) }
        }
        progressTimer?.arm(at: SystemClock.monotonic() + Self.progressEvery)
    }
}

extension TransferServer: TransferKeeper {
    func report(_ news: TransferNews, of transfer: FileTransfer) { line?.send(news.line(of: transfer.id)) }

    func wantsToAsk(_ host: String, _ transfer: FileTransfer) {
        hosts.enter(transfer.id, host)
        admit()
    }

    func hasAsked(_ host: String, _ transfer: FileTransfer) {
        hosts.leave(transfer.id, host)
        admit()
    }

    private func admit() {
        for id in hosts.removeAdmitted() { transfers[id]?.ask() }
        if hosts.isBusy, progressTimer?.armedAt == nil {
            progressTimer?.arm(at: SystemClock.monotonic() + Self.progressEvery)
        }
    }
}
