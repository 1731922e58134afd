// The API's server: HTTP and JSON on the control socket, and over TCP where that is wanted, driven by the daemon's one loop.
import Glibc
import WakeLoop
import WakeModel
import WakeSystem

/// The answers of every entrance.
struct Answers {
    let routes: Routes
    /// Must answer at once.
    let handle: (ControlRequest) -> ControlResponse
    let files: (any PageFiles)?

    func answer(_ request: ControlRequest, _ page: PageRequest) -> ControlResponse {
        page.answer(to: request, from: files) ?? handle(request)
    }
}

/// The group that may use the control socket, beside root and the daemon's user.
public struct ControlGroup: Hashable, Sendable {
    public var number: UInt32
    public var role: AccessRole

    public init(_ number: UInt32, role: AccessRole = .pair) { (self.number, self.role) = (number, role) }
}

/// Serves the API for as long as it exists. Everything, `handle` included, runs on the loop's thread.
public final class ControlServer {
    public let socketPath: String
    /// Called once it serves: the start is complete then.
    public var didBegin: () -> Void = {}

    private let loop: EventLoop
    private let answers: Answers
    private let loadLibrary: @Sendable () -> String?
    /// The loading of the library; its result is why that failed.
    private var loading: BackgroundJob<String?>?
    private var loaded: Watch?
    private var retry: Timer?
    private var begun: Deferred?
    private let local: Entrance
    private var web: Entrance?
    private var isOpen = true
    private var isServing = false
    private var hasLoggedFault = false
    private let log = Log("control")

    /// Listens at `socketPath`, which it creates, and removes at its end. The kernel admits root, the daemon's user and members
    /// of `group`: no byte of another user reaches the parser. `handle` must answer at once.
    package convenience init(
        loop: EventLoop, socketPath: String, group: ControlGroup? = nil, page: (any PageFiles)? = nil,
        routes: Routes = Routes(), handle: @escaping (ControlRequest) -> ControlResponse
    ) throws(SystemError) {
        try self.init(
            loop: loop, socketPath: socketPath, group: group, page: page, routes: routes, handle: handle
        ) { HTTPEdge.load() }
    }

    init(
        loop: EventLoop, socketPath: String, group: ControlGroup?, page: (any PageFiles)? = nil,
        routes: Routes = Routes(), handle: @escaping (ControlRequest) -> ControlResponse,
        loadLibrary: @escaping @Sendable () -> String?
    ) throws(SystemError) {
        self.loop = loop
        self.socketPath = socketPath
        self.loadLibrary = loadLibrary
        answers = Answers(routes: routes, handle: handle, files: page)
        let listening = try UnixSocket.listen(
            at: socketPath, mode: group == nil ? 0o600 : 0o660, group: group?.number)
        let admission = LocalAdmission(daemonUser: geteuid(), group: group?.number, groupRole: group?.role ?? .pair)
        local = Entrance(listening, .local(admission), on: loop)
        retry = try loop.timer(on: .monotonic, of: self) { $0.load() }
        // Begins with the loop's first round: a start does not wait for the library.
        begun = try loop.deferred(priority: .normal, of: self) { $0.load() }
        begun?.schedule()
    }

    deinit { close() }

    /// Listens for TCP too.
    public func open(_ door: WebDoor) throws(SystemError) {
        let web = Entrance(try NetworkSocket.listen(at: door.settings.listen), .web(door), on: loop)
        self.web = web
        if isServing { try web.begin(.web, answers) }
    }

    /// Ends the streams that a token opened.
    public func endStreams(of holder: String) { web?.endStreams(of: holder) }

    /// Ends every connection and removes the socket. Must not be called from within `handle`.
    public func close() {
        guard isOpen else { return }
        isOpen = false
        (loaded, loading, retry, begun) = (nil, nil, nil, nil)
        local.close()
        web?.close()
        unlink(socketPath)
    }

    /// Loads on a separate thread: the library comes with TLS, perhaps from a slow disk, and a blocked loop wakes no handler.
    private func load() {
        guard loading == nil, !isServing else { return }
        do throws(SystemError) {
            let job = try BackgroundJob(loadLibrary)
            loaded = try loop.watch(job.raw, for: .readable, of: self) { $0.begin() }
            loading = job
        } catch {
            putOff(error.description)
        }
    }

    private func begin() {
        guard let fault = loading?.removeResult() else { return }
        // Ends the watch first: a handler's process that is being started holds a copy of the watched descriptor.
        loaded = nil
        loading = nil
        if let fault { return putOff("could not load libmicrohttpd: \(fault); install it") }
        do throws(SystemError) {
            try local.begin(.local, answers)
            isServing = true
            beginWeb()
            didBegin()
        } catch {
            putOff(error.description)
        }
    }

    /// A fault over TCP leaves the control socket as it is.
    private func beginWeb() {
        do throws(SystemError) { try web?.begin(.web, answers) } catch {
            web = nil
            log.error("\(error.description); nothing is answered over TCP")
        }
    }

    /// Clients wait until this is fixed; while one waits, it is retried.
    private func putOff(_ fault: String) {
        if !hasLoggedFault { log.error("\(fault); clients of the control socket wait until that is fixed") }
        hasLoggedFault = true
        if let retry { local.awaitClient(retry) }
    }
}
