// A file on its way: it is requested, written, checked, and given its name; a passing failure is retried.
import WakeLoop
import WakeModel
import WakeSystem
import WakeTransfer

/// The services that a transfer needs of its server.
protocol TransferKeeper: AnyObject {
    /// Its state has changed.
    func report(_ news: TransferNews, of transfer: FileTransfer)
    /// It waits to request from this host, and is called back with ``FileTransfer/ask()`` when there is room.
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
    /// A sync of the written bytes, while more comes or before more is requested.
    private var syncing: (job: BackgroundJob<Result<PartRecord, SystemError>>, watch: Watch?)?
    /// The record to keep after that.
    private var unkept: PartRecord?
    /// It begins as soon as no sync runs.
    private var isDue = false
    private var redirects = 0
    private var restarts = 0
    /// How often in a row there was no room for more.
    private var shortages = 0
    private var pace = RetryPace()
    private var credential: TransferCredential?
    private var timer: Timer?
    private let log = Log("transfers")

    private static let mostRestarts = 8
    /// They take a quarter of an hour.
    private static let mostShortages = 10
    private static let longestSync = TimeSpan.seconds(600)

    init(
        _ id: TransferID, _ order: TransferOrder, in folder: PartFolder, on loop: EventLoop, _ multi: CurlMulti,
        of keeper: any TransferKeeper
    ) throws(SystemError) {
        (self.id, self.order, self.folder) = (id, order, folder)
        (self.loop, self.multi, self.keeper) = (loop, multi, keeper)
        let kept = try folder.record(id.number).flatMap { $0.address == order.address.text ? $0 : nil }
        record = kept ?? PartRecord(number: id.number, address: order.address.text)
        answer = TransferAnswer(order.address)
        timer = try loop.timer(on: .boottime, of: self) { $0.begin() }
    }

    var result: TransferResult? { if case .ended(let result) = record.phase { result } else { nil } }
    private var isUpload: Bool { if case .upload = order.direction { true } else { false } }

    // MARK: Orders of the daemon

    /// Moves from now on. A transfer that has ended reports that again.
    func start() {
        if let result { return keeper.report(.ended(result), of: self) }
        switch activity {
        case .idle: begin()
        case .challenged(let realm): keeper.report(.challenged(realm: realm), of: self)
        case .inLine, .asking, .retrying, .checking: break
        }
    }

    func pause() {
        stop()
        timer?.disarm()
        (activity, isDue) = (.idle, false)
        beginAnew()
    }

    /// Before this program ends: all that has come is on the disk when this returns.
    func waitForDisk() {
        waitForSync()
        if let kept = unkept { sync(kept) }
        waitForSync()
    }

    /// Leaves nothing behind.
    func cancel() {
        answer.close()
        pause()
        settleSync()
        folder.forget(id.number)
    }

    func answer(_ credential: TransferCredential) {
        self.credential = credential
        guard case .challenged = activity else { return }
        activity = .idle
        begin()
    }

    /// Its progress; nil while it pauses.
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

    /// The next request begins at the beginning of the way, and the part is opened for it.
    private func beginAnew() {
        (redirects, answer.address, answer.reach) = (0, order.address, nil)
        answer.close()
    }

    private func begin() {
        timer?.disarm()
        guard syncing == nil else {
            isDue = true
            return
        }
        if case .placing(let result) = record.phase { return place(result) }
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
            respond(to: error)
        }
    }

    private func makeExchange() throws(SystemError) -> HTTPExchange {
        var headers = ["Accept-Encoding: identity", "Expect:"]
        var upload: HTTPExchange.Upload?
        switch order.direction {
        case .download(let path):
            try folder.requirePlace(of: path)
            let part = try folder.openPart(id.number)
            // A part that another program has cut cannot be continued.
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
            as: answer.address.host == order.address.host ? credential : nil, notNearerThan: answer.reach, on: multi,
            of: self)
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

    /// The bytes first, then how many there are; other transfers go on meanwhile.
    private func keep() {
        guard let kept = answer.recordOfAll(record) else { return }
        if syncing == nil { sync(kept) } else { unkept = kept }
    }

    /// The same, now and then, while more bytes come.
    private func keepMeanwhile() {
        if syncing == nil, let kept = answer.recordToKeep(record) { sync(kept) }
    }

    private func sync(_ kept: PartRecord) {
        unkept = nil
        do throws(SystemError) {
            let job = try folder.keep(kept)
            // It writes the record, whether it is watched or not.
            syncing = (job, nil)
            syncing = (job, try loop.watch(job.raw, for: .readable, of: self) { $0.finishSync() })
        } catch {
            log.warning("\(error.description); \(order.path) of \(id.handler) is not kept as far as it is here")
            waitForSync()
        }
    }

    private func finishSync() {
        guard let result = syncing?.job.removeResult() else { return }
        syncing = nil
        adopt(result)
        if let kept = unkept { sync(kept) }
        guard syncing == nil, isDue else { return }
        isDue = false
        begin()
    }

    private func waitForSync() {
        guard let job = syncing?.job else { return }
        syncing = nil
        if let result = job.removeResult(within: Self.longestSync) { adopt(result) }
    }

    /// Before the part or its record is changed otherwise.
    private func settleSync() {
        (unkept, isDue) = (nil, false)
        waitForSync()
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
        beginAnew()
        timer?.arm(at: SystemClock.boottime() + wait)
        keeper.report(.retries(in: wait, because: why), of: self)
    }

    private func fail(_ failure: TransferFailure) {
        settleSync()
        folder.removePart(id.number)
        end(TransferResult(failure: failure, status: answer.status, sent: answer.sent, received: answer.written))
    }

    /// Retries a passing refusal of the file system with the present part; any other has a word.
    private func respond(to error: SystemError) {
        if answer.hasMoved { shortages = 0 }
        if error.errno.isLackOfSpace {
            shortages += 1
            let isOver = shortages > Self.mostShortages || !answer.mayFindRoom(record, in: folder)
            if isOver { return fail(.storage, error) }
        } else if let failure = error.word {
            return fail(failure, error)
        }
        log.warning("\(error.description); \(order.path) of \(id.handler) is tried again")
        retry(error.errno.description)
    }

    private func fail(_ failure: TransferFailure, _ error: SystemError) {
        log.error("\(error.description); \(order.path) of \(id.handler) fails")
        fail(failure)
    }

    private func end(_ result: TransferResult) {
        activity = .idle
        answer.close()
        record.phase = .ended(result)
        do throws(SystemError) { try folder.save(record) } catch {
            log.warning("\(error.description); the end of \(order.path) is kept in memory alone")
        }
        keeper.report(.ended(result), of: self)
    }
}

// The results of an answer.
extension FileTransfer: HTTPExchangeOwner {
    func hear(head line: [UInt8]) -> Bool { answer.hear(head: line) }

    func hear(body bytes: [UInt8]) -> Bool {
        do throws(SystemError) {
            guard try answer.hear(bytes, isUpload: isUpload, &record, in: folder) else { return false }
            keepMeanwhile()
            return true
        } catch {
            answer.fault = error
            return false
        }
    }

    func ended(_ exchange: HTTPExchange, _ ending: HTTPEnding) {
        guard case .asking(_, let host) = activity else { return }
        answer.sent = exchange.sent
        let (target, reach) = (exchange.target, exchange.reach)
        activity = .idle
        keeper.hasAsked(host, self)
        if let failure = answer.failure { return fail(failure) }
        if let fault = answer.fault { return respond(to: fault) }
        switch ending {
        case .certificate: return fail(.certificate)
        case .impossible(let why):
            log.error("\(why); \(order.path) of \(id.handler) fails")
            return fail(answer.address == order.address ? .address : .redirect)
        case .failed where exchange.hasRefusedAddress: return refuseRedirect()
        case .failed(let why) where !answer.hasHead: return retry(why)
        case .whole, .failed: follow(answer.decide(isUpload: isUpload, record), ending, target, from: reach)
        }
    }

    private func refuseRedirect() {
        log.error(
            "a server sends \(order.path) of \(id.handler) on to \(answer.address.host), nearer to this machine than itself; that is not asked"
        )
        fail(.redirect)
    }

    private func follow(_ verdict: Verdict, _ ending: HTTPEnding, _ target: String?, from reach: AddressReach) {
        switch verdict {
        case .write: endBody(ending)
        case .complete: complete()
        case .accepted:
            if ending == .whole { end(success) } else { retry("cut") }
        case .restart: restart()
        case .redirect: redirect(to: target, from: reach)
        // A credential goes to the host of the order alone: no answer to this one would help.
        case .challenge where answer.address.host != order.address.host: fail(.status)
        case .challenge(let realm):
            credential = nil
            answer.close()
            activity = .challenged(realm: realm)
            keeper.report(.challenged(realm: realm), of: self)
        case .retry(let asked): retry("status \(answer.status ?? 0)", after: asked)
        case .fail(let failure): fail(failure)
        }
    }

    private func endBody(_ ending: HTTPEnding) {
        do throws(SystemError) {
            try answer.prepare(&record, in: folder)
        } catch {
            return respond(to: error)
        }
        switch BodyEnd(isClean: ending == .whole, have: answer.written, total: record.total) {
        case .whole: check()
        case .cut: retry("cut")
        }
    }

    /// Bytes beyond the record are of an attempt that this one does not know.
    private func complete() {
        do throws(SystemError) {
            try answer.cut(to: record.offset)
            check()
        } catch {
            respond(to: error)
        }
    }

    private func restart() {
        restarts += 1
        guard restarts <= Self.mostRestarts else { return fail(.changing) }
        record.restart()
        begin()
    }

    private func redirect(to target: String?, from reach: AddressReach) {
        switch Redirection(from: answer.address, to: target, followed: redirects) {
        case .follow(let address):
            redirects += 1
            let nearest = max(answer.reach ?? reach, reach)
            (answer.address, answer.reach) = (address, nearest)
            if HTTPExchange.isNearer(address, than: nearest) { refuseRedirect() } else { begin() }
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
            respond(to: error)
        }
    }

    private func finishCheck() {
        guard case .checking(let job, _) = activity, let found = job.removeResult() else { return }
        settleSync()
        switch found {
        case .whole(let digest) where digest == order.sha256: place(success)
        case .whole: fail(.checksum)
        case .unwritten(let error): fetchAgain(error)
        case .unread(let error): fail(.storage, error)
        }
    }

    /// The next sync would succeed, and not report the bytes that this one lost.
    private func fetchAgain(_ error: SystemError) {
        restarts += 1
        guard restarts <= Self.mostRestarts else { return fail(.storage, error) }
        answer.close()
        record.restart()
        respond(to: error)
    }

    /// Recorded before and after: whatever ends this program, the file is there once the daemon learns of it.
    private func place(_ result: TransferResult) {
        record.phase = .placing(result)
        do throws(SystemError) {
            try folder.save(record)
            try folder.place(id.number, as: order.path)
            end(result)
        } catch {
            respond(to: error)
        }
    }
}
