// The way to the message bus for as long as the daemon lives: connected anew whenever the bus comes back.
import Glibc
import WakeModel
import WakeSystem

/// One connection for everybody who needs the bus. Whoever is told of a connection subscribes and asks anew: nothing of
/// the one before it holds.
public final class SystemBus {
    public enum Change {
        case connected(BusConnection)
        case lost
    }

    public let loop: EventLoop
    private let address: BusAddress
    private var listeners: [(Change) -> Void] = []
    /// Kept until the next one is made: a connection that tells of its loss is still at work.
    private var latest: BusConnection?
    private var attemptsLeft = 0
    private var backOff = BackOff(from: .milliseconds(50), to: .seconds(5))
    private var hasToldAbsence = false
    private var retry: Timer?
    private var socketWatch: SocketWatch?
    /// The watch was made just now: a bus that came before it is found by one more try, since nothing would tell of it.
    private var isLookingAgain = false
    private let log = Log("bus")

    /// A bus that went away is mostly being restarted; after that its socket is waited for, which costs nothing.
    private static let attemptsAfterLoss = 10
    /// A socket is bound before it is listened to, and its directory is made before the socket.
    private static let attemptsAfterChange = 4

    public init(on loop: EventLoop, to address: BusAddress = .system) {
        self.loop = loop
        self.address = address
    }

    public var connection: BusConnection? {
        guard let latest, !latest.isLost else { return nil }
        return latest
    }

    /// Tells `listener` of every connection and every loss from now on.
    public func listen(_ listener: @escaping (Change) -> Void) {
        listeners.append(listener)
        if let connection { listener(.connected(connection)) }
    }

    /// Connects, now or when there is a bus.
    public func open() throws(SystemError) {
        retry = try loop.timer(on: .monotonic) { [unowned self] in connect() }
        connect()
    }

    private func connect() {
        do throws(SystemError) {
            let connection = try BusConnection(on: loop, to: address)
            socketWatch = nil
            isLookingAgain = false
            connection.didLoseConnection = { [unowned self] in lose() }
            latest = connection
            hasToldAbsence = false
            connection.call(Self.hello, within: .seconds(5)) { [unowned self] result in
                if case .success = result { backOff.reset() }
            }
            for listener in listeners { listener(.connected(connection)) }
        } catch {
            if !hasToldAbsence { log.notice("\(error.description); going on without, until it is there") }
            hasToldAbsence = true
            waitForBus()
        }
    }

    /// Answered by the bus itself once it has let us in.
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

    /// False where nothing tells when a bus appears.
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

/// Tells when names in the directory of the bus's socket change.
private final class SocketWatch {
    private let directory: DirectoryWatch
    private var watch: Watch?

    init(in path: String, on loop: EventLoop, _ body: @escaping () -> Void) throws(SystemError) {
        directory = try DirectoryWatch(path, seesNew: true)
        watch = try loop.watch(directory.raw, for: .readable) { [unowned self] _ in
            _ = try? directory.drain()
            body()
        }
    }

    deinit { watch?.cancel() }
}

extension BusAddress {
    /// The socket's place in the file system; nil for a bus that has none.
    fileprivate var socketPath: String? {
        let text: String
        switch self {
        case .address(let given): text = given
        case .system:
            text = Environment.value(of: "DBUS_SYSTEM_BUS_ADDRESS") ?? "unix:path=/run/dbus/system_bus_socket"
        }
        guard text.hasPrefix("unix:path=") else { return nil }
        return String(text.dropFirst("unix:path=".count).prefix { $0 != "," && $0 != ";" })
    }
}
