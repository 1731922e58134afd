// The control socket: HTTP and JSON on a Unix socket, driven by the daemon's one loop.
import Glibc
import WakeLoop
import WakeModel
import WakeSystem

/// Serves the control API for as long as it lives. Everything, `handle` included, runs on the loop's thread.
public final class ControlServer {
    public let socketPath: String

    private let edge: HTTPEdge
    private let listening: FileDescriptor
    private var readiness: Watch?
    private var timeout: Timer?
    private var wake: Deferred?
    private var isOpen = true

    /// Listens at `socketPath`, which it makes and at its end removes. Anybody may connect; who is not root, the
    /// daemon's user or in `group` gets a sentence and nothing else. `handle` answers at once: it waits for nothing.
    public init(
        loop: EventLoop, socketPath: String, group: UInt32? = nil, handle: @escaping (ControlRequest) -> ControlResponse
    ) throws(SystemError) {
        self.socketPath = socketPath
        listening = try UnixSocket.listen(at: socketPath, mode: 0o666)
        let admission = Admission(daemonUser: geteuid(), group: group)
        guard let edge = HTTPEdge(listening: listening.raw, loop: loop, admission: admission, handle: handle) else {
            throw SystemError(
                "serve HTTP on", socketPath, .noSpace, advice: "look at the limits on memory and open files")
        }
        self.edge = edge
        readiness = try loop.watch(edge.descriptor, for: [.readable]) { [weak self] _ in self?.run() }
        timeout = try loop.timer(on: .monotonic) { [weak self] in self?.run() }
        let wake = try loop.deferred(priority: .normal) { [weak self] in self?.run() }
        self.wake = wake
        edge.onWake = { wake.schedule() }
    }

    deinit { close() }

    /// Ends every connection and takes the socket away. Must not be called from within `handle`.
    public func close() {
        guard isOpen else { return }
        isOpen = false
        readiness = nil
        timeout = nil
        wake = nil
        edge.stop()
        unlink(socketPath)
    }

    private func run() {
        guard let milliseconds = edge.run() else {
            timeout?.disarm()
            return
        }
        // Zero would let a rounding in the library's clock spin this loop; its descriptor reports real work at once.
        timeout?.arm(at: SystemClock.now().monotonic + .milliseconds(max(milliseconds, 1)))
    }
}
