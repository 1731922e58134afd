// The control socket: HTTP and JSON on a Unix socket, driven by the daemon's one loop.
import Glibc
import WakeLoop
import WakeModel
import WakeSystem

/// Serves the control API for as long as it exists. Everything, `handle` included, runs on the loop's thread.
public final class ControlServer {
    public let socketPath: String
    /// Called once it serves: the start is complete then.
    public var didBegin: () -> Void = {}

    private let loop: EventLoop
    private let admission: Admission
    private let handle: (ControlRequest) -> ControlResponse
    private let loadLibrary: @Sendable () -> String?
    /// The loading of the library; its result is why that failed.
    private var loading: BackgroundJob<String?>?
    private var loaded: Watch?
    /// Nil until the library is loaded; clients that connect earlier wait.
    private var edge: HTTPEdge?
    private let listening: FileDescriptor
    private var readiness: Watch?
    private var timeout: Timer?
    private var wake: Deferred?
    private var isOpen = true
    private var isToldOfFailure = false
    private let log = Log("control")

    private static let nextTry = TimeSpan.seconds(1)

    /// Listens at `socketPath`, which it creates, and removes at its end. The kernel admits root, the daemon's user and members
    /// of `group`: no byte of another user reaches the parser. `handle` must answer at once.
    public convenience init(
        loop: EventLoop, socketPath: String, group: UInt32? = nil, handle: @escaping (ControlRequest) -> ControlResponse
    ) throws(SystemError) {
        try self.init(loop: loop, socketPath: socketPath, group: group, handle: handle) { HTTPEdge.load() }
    }

    init(
        loop: EventLoop, socketPath: String, group: UInt32?, handle: @escaping (ControlRequest) -> ControlResponse,
        loadLibrary: @escaping @Sendable () -> String?
    ) throws(SystemError) {
        self.loop = loop
        self.socketPath = socketPath
        self.handle = handle
        self.loadLibrary = loadLibrary
        listening = try UnixSocket.listen(at: socketPath, mode: group == nil ? 0o600 : 0o660, group: group)
        admission = Admission(daemonUser: geteuid(), group: group)
        timeout = try loop.timer(on: .monotonic) { [weak self] in self?.run() }
        wake = try loop.deferred(priority: .normal) { [weak self] in self?.run() }
        // Begins with the loop's first round: a start does not wait for the library.
        wake?.schedule()
    }

    deinit { close() }

    /// Ends every connection and removes the socket. Must not be called from within `handle`.
    public func close() {
        guard isOpen else { return }
        isOpen = false
        (readiness, loaded) = (nil, nil)
        (timeout, wake) = (nil, nil)
        loading = nil
        edge?.stop()
        unlink(socketPath)
    }

    private func run() {
        guard let edge else { return load() }
        guard let milliseconds = edge.run() else {
            timeout?.disarm()
            return
        }
        // With zero, a rounding in the library's clock could make this loop spin; its descriptor reports real work at once.
        timeout?.arm(at: SystemClock.now().monotonic + .milliseconds(max(milliseconds, 1)))
    }

    /// Loads on a separate thread: the library comes with TLS, perhaps from a slow disk, and a blocked loop wakes no handler.
    private func load() {
        guard loading == nil else { return }
        do throws(SystemError) {
            let job = try BackgroundJob(loadLibrary)
            loaded = try loop.watch(job.raw, for: .readable) { [weak self] _ in self?.begin() }
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
            let edge = try HTTPEdge(listening: listening.raw, loop: loop, admission: admission, handle: handle)
            readiness = try loop.watch(edge.descriptor, for: .readable) { [weak self] _ in self?.run() }
            edge.onWake = { [wake] in wake?.schedule() }
            self.edge = edge
            didBegin()
        } catch {
            putOff(error.description)
        }
    }

    /// Clients wait until this is fixed; while one waits, it is retried.
    private func putOff(_ fault: String) {
        if !isToldOfFailure { log.error("\(fault); clients of the control socket wait until that is fixed") }
        isToldOfFailure = true
        readiness = try? loop.watch(listening.raw, for: .readable) { [weak self] _ in
            self?.readiness?.disable()
            self?.timeout?.arm(at: SystemClock.now().monotonic + Self.nextTry)
        }
    }
}
