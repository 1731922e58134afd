// The daemon's connection to the message bus: reconnects whenever the bus comes back.
import Glibc
import WakeModel
import WakeSystem

/// A connection for all parts that use the bus, and another for requests that others on the bus count by connection. A
/// listener that gets a new connection must subscribe and ask again: the former connection's objects are invalid.
public final class SystemBus {
    public enum Change {
        case connected(BusConnection)
        case lost
    }

    public let loop: EventLoop
    public let address: BusAddress
    private var listeners: [(Change) -> Void] = []
    /// Kept until the next one is made: a connection that reports its loss is still in use.
    private var latest: BusConnection?
    private var attemptsLeft = 0
    private var backOff = BackOff(from: .milliseconds(50), to: .seconds(5))
    private var hasToldAbsence = false
    private var retry: Timer?
    /// Each is kept until the callback has returned that gave it up.
    private var ending: [BusConnection] = []
    private var release: Deferred?
    private var socketWatch: SocketWatch?
    /// The watch has just begun: a bus that appeared before it would not be reported, so one more attempt is made.
    private var isLookingAgain = false
    private let log = Log("bus")

    /// A lost bus is mostly being restarted, so retry for a while; then wait for its socket, which costs nothing.
    private static let attemptsAfterLoss = 10
    /// A socket is bound before its program listens, and its directory is made before the socket.
    private static let attemptsAfterChange = 4

    public init(on loop: EventLoop, to address: BusAddress = .system) {
        self.loop = loop
        self.address = address
    }

    public var connection: BusConnection? {
        guard let latest, !latest.isLost else { return nil }
        return latest
    }

    /// Reports every connection and every loss to `listener` from now on.
    public func listen(_ listener: @escaping (Change) -> Void) {
        listeners.append(listener)
        if let connection { listener(.connected(connection)) }
    }

    /// Connects now, or when a bus appears.
    public func open() throws(SystemError) {
        retry = try loop.timer(on: .monotonic, of: self) { $0.connect() }
        release = try loop.deferred(priority: .normal, of: self) { $0.ending = [] }
        connect()
    }

    /// A connection beside the common one, for requests that a program on the bus counts by connection, or answers with
    /// descriptors. The caller owns it, and gives it back with ``close(_:)``.
    public func connectBeside(takesDescriptors: Bool = false) throws(SystemError) -> BusConnection {
        try BusConnection(on: loop, to: address, takesDescriptors: takesDescriptors)
    }

    /// Closes a connection that ``connectBeside()`` made; a callback of its own may call this.
    public func close(_ connection: consuming BusConnection) {
        ending.append(connection)
        release?.schedule()
    }

    private func connect() {
        do throws(SystemError) {
            let connection = try BusConnection(on: loop, to: address)
            socketWatch = nil
            isLookingAgain = false
            connection.didLoseConnection = { [unowned self] in lose() }
            latest = connection
            hasToldAbsence = false
            connection.call(Self.hello, within: .seconds(5), of: self) { bus, result in
                if case .success = result { bus.backOff.reset() }
            }
            for listener in listeners { listener(.connected(connection)) }
        } catch {
            if !hasToldAbsence { log.notice("\(error.description); going on without, until it is there") }
            hasToldAbsence = true
            waitForBus()
        }
    }

    /// The bus itself answers this once it has accepted the connection.
    private static var hello: BusCall { .ofBus("GetId") }

    private func lose() {
        log.warning("the message bus is gone; connecting again when it is back")
        for listener in listeners { listener(.lost) }
        attemptsLeft = Self.attemptsAfterLoss
        waitForBus()
    }

    private func waitForBus() {
        if attemptsLeft == 0 {
            let hasLooked = isLookingAgain
            isLookingAgain = !hasLooked && watchSocket()
            if hasLooked { return }
        } else {
            attemptsLeft -= 1
        }
        retry?.arm(at: SystemClock.monotonic() + backOff.next())
    }

    /// False where nothing reports that a bus appears.
    private func watchSocket() -> Bool {
        guard var directory = address.socketPath else { return false }
        repeat {
            guard let slash = directory.lastIndex(of: "/") else { return false }
            directory = String(directory[..<slash])
        } while !directory.isEmpty && !File.exists(directory)
        socketWatch = try? SocketWatch(in: directory.isEmpty ? "/" : directory, on: loop) { [unowned self] in
            retryAfterChange()
        }
        return socketWatch != nil
    }

    private func retryAfterChange() {
        attemptsLeft = Self.attemptsAfterChange
        isLookingAgain = false
        backOff.reset()
        retry?.arm(at: SystemClock.monotonic() + backOff.next())
    }
}

/// Reports when names in the directory of the bus's socket change.
private final class SocketWatch {
    private let directory: DirectoryWatch
    private var watch: Watch?

    init(in path: String, on loop: EventLoop, _ body: @escaping () -> Void) throws(SystemError) {
        directory = try DirectoryWatch(path, seesNew: true)
        watch = try loop.watch(directory.raw, for: .readable, of: self) { socket in
            _ = try? socket.directory.drain()
            body()
        }
    }

    deinit { watch?.cancel() }
}

extension BusAddress {
    /// The socket's path; nil for a bus without one.
    fileprivate var socketPath: String? {
        guard text.hasPrefix("unix:path=") else { return nil }
        return String(text.dropFirst("unix:path=".count).prefix { $0 != "," && $0 != ";" })
    }
}
