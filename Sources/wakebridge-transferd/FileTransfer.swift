// One file on its way: it is asked for, written down, checked, and given its name; what fails for now is tried again.
import WakeLoop
import WakeModel
import WakeSystem
import WakeTransfer

/// What a transfer needs of those beside it.
protocol TransferKeeper: AnyObject {
    /// Something has become of it.
    func report(_ news: TransferNews, of transfer: FileTransfer)
    /// It wants to ask this host, and is called back with ``FileTransfer/ask()`` when there is room.
    func wantsToAsk(_ host: String, _ transfer: FileTransfer)
    func hasAsked(_ host: String, _ transfer: FileTransfer)
}

final class FileTransfer {
    private enum Activity {
        /// It is not to move, or has ended.
        case idle
        case inLine(host: String)
        case asking(HTTPExchange, host: String)
        case retrying
        case challenged(realm: String)
        case checking(BackgroundJob<PartCheck>, Watch?)
    }

    let id: TransferID
    private let order: TransferOrder
    private let folder: PartFolder
    private let loop: EventLoop
    private let multi: CurlMulti
    private unowned let keeper: any TransferKeeper
    private var activity = Activity.idle
    private var record: PartRecord
    private var answer: TransferAnswer
    /// What was written goes to the disk while more comes.
    private var syncing: (job: BackgroundJob<Result<PartRecord, SystemError>>, watch: Watch?)?
    private var redirects = 0
    private var restarts = 0
    private var pace = RetryPace()
    private var credential: TransferCredential?
    private var timer: Timer?
    private let log = Log("transfers")

    private static let mostRestarts = 8
    private static let longestSync = TimeSpan.seconds(600)

    init(
        _ id: TransferID, _ order: TransferOrder, in folder: PartFolder, on loop: EventLoop, _ multi: CurlMulti,
        of keeper: any TransferKeeper
    ) throws(SystemError) {
        (self.id, self.order, self.folder) = (id, order, folder)
        (self.loop, self.multi, self.keeper) = (loop, multi, keeper)
        let kept = folder.record(id.number).flatMap { $0.address == order.address.text ? $0 : nil }
        record = kept ?? PartRecord(number: id.number, address: order.address.text)
        answer = TransferAnswer(order.address)
        timer = try loop.timer(on: .boottime, of: self) { $0.begin() }
    }

    var result: TransferResult? { if case .ended(let result) = record.phase { result } else { nil } }
    private var isUpload: Bool { if case .upload = order.direction { true } else { false } }

    // MARK: What the daemon wants

    /// Moves from now on. What has ended says so again.
    func start() {
        if let result { return keeper.report(.ended(result), of: self) }
        if case .placing(let result) = record.phase { return place(result) }
        switch activity {
        case .idle: begin()
        case .challenged(let realm): keeper.report(.challenged(realm: realm), of: self)
        case .inLine, .asking, .retrying, .checking: break
        }
    }

    func pause() {
        stop()
        settleSync()
        timer?.disarm()
        activity = .idle
    }

    /// Leaves nothing behind.
    func cancel() {
        pause()
        folder.forget(id.number)
    }

    func answer(_ credential: TransferCredential) {
        self.credential = credential
        guard case .challenged = activity else { return }
        activity = .idle
        begin()
    }

    /// How far it is; nil where it stands still.
    var progress: TransferNews? {
        guard case .asking(let exchange, _) = activity else { return nil }
        return isUpload
            ? .moved(done: exchange.sent, total: order.expectedSent) : .moved(done: answer.written, total: record.total)
    }

    /// For a daemon that has just come.
    var standing: TransferNews {
        if let result { return .ended(result) }
        if case .challenged(let realm) = activity { return .challenged(realm: realm) }
        return progress ?? .held
    }

    // MARK: Asking

    private func begin() {
        timer?.disarm()
        let host = answer.address.host
        activity = .inLine(host: host)
        keeper.wantsToAsk(host, self)
    }

    func ask() {
        guard case .inLine(let host) = activity else { return }
        do throws(SystemError) {
            activity = .asking(try makeExchange(), host: host)
        } catch {
            keeper.hasAsked(host, self)
            activity = .idle
            log.error("\(error.description); \(order.path) of \(id.handler) fails")
            fail(.path)
        }
    }

    private func makeExchange() throws(SystemError) -> HTTPExchange {
        var headers = ["Accept-Encoding: identity", "Expect:"]
        var upload: HTTPExchange.Upload?
        switch order.direction {
        case .download:
            let part = try folder.openPart(id.number)
            // What was cut off behind our back is not there to be joined.
            if try part.byteCount(of: "a part") < record.offset { record.restart() }
            answer.begin(part)
            headers += record.requestHeaders
        case .upload(let path, let method):
            let file = try folder.openSource(path)
            let count = try file.byteCount(of: path)
            upload = HTTPExchange.Upload(file: file, method: method, count: count)
            answer.begin(nil)
            headers.append("Idempotency-Key: \"\(id.handler)-\(id.number)\"")
        }
        return try HTTPExchange(
            answer.address, headers: headers, sending: upload,
            as: answer.address.host == order.address.host ? credential : nil, on: multi, of: self)
    }

    private func stop() {
        switch activity {
        case .asking(_, let host), .inLine(let host):
            activity = .idle
            keep()
            keeper.hasAsked(host, self)
        case .checking: keep()
        case .idle, .retrying, .challenged: break
        }
    }

    // MARK: Keeping

    /// The bytes first, then how many there are.
    private func keep() {
        settleSync()
        do throws(SystemError) {
            if try answer.synchronize(&record) { try folder.save(record) }
        } catch {
            log.warning("\(error.description); \(order.path) of \(id.handler) begins where it was kept before")
        }
    }

    /// The same, now and then, while more bytes come.
    private func keepMeanwhile() throws(SystemError) {
        guard syncing == nil, let kept = answer.recordToKeep(record) else { return }
        let job = try folder.keep(kept)
        syncing = (job, try loop.watch(job.raw, for: .readable, of: self) { $0.finishSync() })
    }

    private func finishSync() {
        guard let result = syncing?.job.removeResult() else { return }
        syncing = nil
        adopt(result)
    }

    /// Before the part or its record is changed otherwise.
    private func settleSync() {
        guard let job = syncing?.job else { return }
        syncing = nil
        if let result = job.removeResult(within: Self.longestSync) { adopt(result) }
    }

    private func adopt(_ result: Result<PartRecord, SystemError>) {
        switch result {
        case .success(let kept): record.offset = kept.offset
        case .failure(let error):
            log.warning("\(error.description); \(order.path) of \(id.handler) begins where it was kept before")
        }
    }

    // MARK: Ends

    private func retry(_ why: String, after asked: String? = nil) {
        keep()
        if answer.hasMoved { pace.reset() }
        let wait = pace.next(asked: asked, at: SystemClock.wall())
        activity = .retrying
        // The next request begins at the beginning of the way.
        (redirects, answer.address) = (0, order.address)
        timer?.arm(at: SystemClock.boottime() + wait)
        keeper.report(.retries(in: wait, because: why), of: self)
    }

    private func fail(_ failure: TransferFailure) {
        settleSync()
        folder.removePart(id.number)
        end(TransferResult(failure: failure, status: answer.status, sent: answer.sent, received: answer.written))
    }

    private func end(_ result: TransferResult) {
        activity = .idle
        record.phase = .ended(result)
        do throws(SystemError) { try folder.save(record) } catch {
            log.warning("\(error.description); the end of \(order.path) is kept in memory alone")
        }
        keeper.report(.ended(result), of: self)
    }
}

// What comes of an answer.
extension FileTransfer: HTTPExchangeOwner {
    func hear(head line: [UInt8]) -> Bool { answer.hear(head: line) }

    func hear(body bytes: [UInt8]) -> Bool {
        do throws(SystemError) {
            guard try answer.hear(bytes, isUpload: isUpload, &record, in: folder) else { return false }
            try keepMeanwhile()
            return true
        } catch {
            answer.failure = error.errno == .noSpace ? .storage : .path
            log.error("\(error.description); \(order.path) of \(id.handler) fails")
            return false
        }
    }

    func ended(_ exchange: HTTPExchange, _ ending: HTTPEnding) {
        guard case .asking(_, let host) = activity else { return }
        answer.sent = exchange.sent
        let target = exchange.target
        activity = .idle
        keeper.hasAsked(host, self)
        if let failure = answer.failure { return fail(failure) }
        switch ending {
        case .certificate: return fail(.certificate)
        case .failed(let why) where !answer.hasHead: return retry(why)
        case .whole, .failed: follow(answer.decide(isUpload: isUpload, record), ending, target)
        }
    }

    private func follow(_ verdict: Verdict, _ ending: HTTPEnding, _ target: String?) {
        switch verdict {
        case .write: endBody(ending)
        case .complete: complete()
        case .accepted:
            if ending == .whole { end(success) } else { retry("cut") }
        case .restart: restart()
        case .redirect: redirect(to: target)
        case .challenge(let realm):
            credential = nil
            activity = .challenged(realm: realm)
            keeper.report(.challenged(realm: realm), of: self)
        case .retry(let asked): retry("status \(answer.status ?? 0)", after: asked)
        case .fail(let failure): fail(failure)
        }
    }

    private func endBody(_ ending: HTTPEnding) {
        do throws(SystemError) {
            guard try answer.prepare(&record, in: folder) else { return fail(answer.failure ?? .storage) }
        } catch {
            return fail(.path)
        }
        switch BodyEnd(isClean: ending == .whole, have: answer.written, total: record.total) {
        case .whole: check()
        case .cut: retry("cut")
        }
    }

    /// What was written beyond the record is of an attempt that this one knows nothing of.
    private func complete() {
        do throws(SystemError) {
            try answer.cut(to: record.offset)
            check()
        } catch {
            fail(.path)
        }
    }

    private func restart() {
        restarts += 1
        guard restarts <= Self.mostRestarts else { return fail(.changing) }
        record.restart()
        begin()
    }

    private func redirect(to target: String?) {
        switch Redirection(from: answer.address, to: target, followed: redirects) {
        case .follow(let address):
            redirects += 1
            answer.address = address
            begin()
        case .refuse(let failure): fail(failure)
        }
    }

    private var success: TransferResult {
        TransferResult(status: answer.status, sent: answer.sent, received: max(answer.written, record.offset))
    }
}

// The last steps.
extension FileTransfer {
    /// All of it is on the disk before it gets its name. A long file takes its time, which no other transfer waits for.
    private func check() {
        do throws(SystemError) {
            let job = try folder.check(id.number, digested: order.sha256 != nil)
            activity = .checking(job, try loop.watch(job.raw, for: .readable, of: self) { $0.finishCheck() })
        } catch {
            log.error("\(error.description); \(order.path) of \(id.handler) fails")
            fail(.path)
        }
    }

    private func finishCheck() {
        guard case .checking(let job, _) = activity, let found = job.removeResult() else { return }
        settleSync()
        switch found {
        case .whole(let digest) where digest == order.sha256: place(success)
        case .whole: fail(.checksum)
        case .unwritten(let error):
            log.error("\(error.description); \(order.path) of \(id.handler) fails")
            fail(.storage)
        }
    }

    /// Recorded before and after: whatever ends this program, the file is there once the daemon hears of it.
    private func place(_ result: TransferResult) {
        record.phase = .placing(result)
        do throws(SystemError) {
            try folder.save(record)
            try folder.place(id.number, as: order.path)
            end(result)
        } catch {
            log.error("\(error.description); \(order.path) of \(id.handler) fails")
            fail(.path)
        }
    }
}
