// The control socket: HTTP and JSON on a Unix socket, driven by the daemon's one loop.
import Glibc
import WakeLoop
import WakeModel
import WakeSystem

/// Serves the control API for as long as it lives. Everything, `handle` included, runs on the loop's thread.
public final class ControlServer {
    public let socketPath: String
    /// Called once it serves: nothing of a start is left to do then.
    public var didBegin: () -> Void = {}

    private let loop: EventLoop
    private let admission: Admission
    private let handle: (ControlRequest) -> ControlResponse
    private let loadLibrary: @Sendable () -> String?
    /// While the library is loaded; its answer is why it cannot be had.
    private var loading: Errand<String?>?
    private var loaded: Watch?
    /// Nil until the library is there; who connects sooner waits.
    private var edge: HTTPEdge?
    private let listening: FileDescriptor
    private var readiness: Watch?
    private var timeout: Timer?
    private var wake: Deferred?
    private var isOpen = true
    private var isToldOfFailure = false
    private let log = Log("control")

    private static let nextTry = TimeSpan.seconds(1)

    /// Listens at `socketPath`, which it makes and at its end removes. The kernel lets in root, the daemon's user and
    /// members of `group`: no byte of another user reaches the parser. `handle` answers at once: it waits for nothing.
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
        // With the loop's first round: a start does not wait for the library.
        wake?.schedule()
    }

    deinit { close() }

    /// Ends every connection and takes the socket away. Must not be called from within `handle`.
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
        // Zero would let a rounding in the library's clock spin this loop; its descriptor reports real work at once.
        timeout?.arm(at: SystemClock.now().monotonic + .milliseconds(max(milliseconds, 1)))
    }

    /// On a thread of its own: the library brings TLS along, from a disk that may be slow, and while the loop waits nobody is woken.
    private func load() {
        guard loading == nil else { return }
        do throws(SystemError) {
            let errand = try Errand(loadLibrary)
            loaded = try loop.watch(errand.raw, for: .readable) { [weak self] _ in self?.begin() }
            loading = errand
        } catch {
            putOff(error.description)
        }
    }

    private func begin() {
        guard let fault = loading?.take() else { return }
        // The watch first: a handler's process that is being started holds a copy of what it watches.
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

    /// Whoever connects before it is mended waits, and while somebody does it is tried again.
    private func putOff(_ fault: String) {
        if !isToldOfFailure { log.error("\(fault); whoever asks the control socket waits until that is mended") }
        isToldOfFailure = true
        readiness = try? loop.watch(listening.raw, for: .readable) { [weak self] _ in
            self?.readiness?.disable()
            self?.timeout?.arm(at: SystemClock.now().monotonic + Self.nextTry)
        }
    }
}
