// The bridge's side of the Serial Port Profile (org.bluez.Profile1): registered with every bluetoothd, which then hands
// over the channel of each device that is connected by it.
import WakeLoop
import WakeModel
import WakeSystem

/// A channel that bluetoothd offers. It is taken or refused, once.
struct OfferedChannel {
    fileprivate let request: BusRequest
    private let descriptor: BusDescriptor

    fileprivate init(_ request: BusRequest, _ descriptor: BusDescriptor) {
        self.request = request
        self.descriptor = descriptor
    }

    func accept(named name: String) throws(SystemError) -> RfcommChannel {
        do throws(SystemError) {
            let channel = try RfcommChannel(copying: descriptor.raw, named: name)
            request.answer()
            return channel
        } catch {
            refuse("it could not be taken: \(error.description)")
            throw error
        }
    }

    func refuse(_ why: String) { request.refuse(BusError(name: "org.bluez.Error.Rejected", message: why)) }
}

final class SerialProfile {
    /// An event of bluetoothd, with the path of the device if it is about one.
    enum Event {
        case offered(OfferedChannel)
        /// Another program wants the device disconnected.
        case disconnect
        /// From now on devices can be connected.
        case registered
        /// They cannot, for this reason; it is tried again.
        case refused(PortRefusal)
        /// Bluetoothd ends in order, or is about to.
        case released
    }

    private enum Standing {
        case none
        /// A registration was sent and is not answered yet.
        case asked
        case registered
        case refused(PortRefusal)
    }

    static let service = BluetoothUUID(short: 0x1101)
    private static let patience = TimeSpan.seconds(10)

    private let path: String
    private unowned let client: BluezClient
    private let report: (String, Event) -> Void
    /// Bluetoothd passes channels over it. It is there only while there is a device for the profile, since others can pass
    /// descriptors over it too.
    private var connection: BusConnection?
    private var object: BusObject?
    private var standing = Standing.none
    /// Counts the lives of bluetoothd, so that an answer of an earlier one is known as such.
    private var life = 0
    /// Armed while a registration was refused.
    private var again: Timer?
    private var backOff = BackOff(from: .milliseconds(500), to: .seconds(60))
    /// The refusal that the log has reported already.
    private var toldWhy: String?

    /// - Parameter path: of the object that bluetoothd calls.
    init(
        _ client: BluezClient, at path: String = "/org/wakebridge/serial", on loop: EventLoop,
        _ report: @escaping (String, Event) -> Void
    ) throws(SystemError) {
        self.client = client
        self.path = path
        self.report = report
        again = try loop.timer(on: .monotonic, of: self) { $0.register() }
    }

    var isRegistered: Bool { if case .registered = standing { true } else { false } }

    /// Why bluetoothd refuses the registration; nil if there was none, or it has agreed.
    var hindrance: PortRefusal? { if case .refused(let why) = standing { why } else { nil } }

    /// Only once there is a device for it: no other program can have the profile then.
    func register() {
        switch standing {
        case .asked, .registered: return
        case .none, .refused: break
        }
        guard client.isThere else { return }
        guard let connection = offer() else {
            return registerLater("could not offer \(path) on the message bus, where bluetoothd hands over serial ports")
        }
        standing = .asked
        let (life, askedAt) = (life, SystemClock.monotonic())
        let arguments: [BusValue] = [.objectPath(path), .string(Self.service.full), Self.options]
        let call = BusCall(
            client.owner, "/org/bluez", "org.bluez.ProfileManager1", "RegisterProfile", arguments)
        connection.call(call, within: Self.patience) { [weak self] result in
            guard let self, self.life == life else { return }
            handle(result, askedAt)
        }
    }

    /// Nil where the object that bluetoothd calls cannot be offered.
    private func offer() -> BusConnection? {
        if let connection, object != nil { return connection }
        guard let made = connection ?? (try? client.systemBus.connectBeside(takesDescriptors: true)) else { return nil }
        made.didLoseConnection = { [unowned self] in recover() }
        connection = made
        object = try? made.export(at: path) { [unowned self] in answer($0) }
        return object == nil ? nil : made
    }

    /// Bluetoothd drops a registration with its connection. Where the whole bus is gone, ``reset()`` follows.
    private func recover() {
        forgetConnection()
        again?.arm(at: SystemClock.monotonic() + backOff.next())
    }

    private func forgetConnection() {
        life += 1
        standing = .none
        object = nil
        guard let connection else { return }
        connection.didLoseConnection = {}
        client.systemBus.close(connection)
        self.connection = nil
    }

    private func handle(_ result: Result<[BusValue], BusError>, _ askedAt: Instant) {
        switch result {
        case .success: handleRegistered()
        // An earlier call that was not answered in time has reached bluetoothd all the same.
        case .failure(let error) where error.name == "org.bluez.Error.AlreadyExists": handleRegistered()
        // Bluetoothd has gone, which the bus is about to report.
        case .failure(let error) where error.isNobodyThere || error.isEnd(askedAt: askedAt, within: Self.patience):
            registerLater(.absent("\(error)"))
        case .failure(let error):
            registerLater(
                "bluetoothd does not let the bridge connect serial ports: \(error); \(Self.remedy(of: error))")
        }
    }

    private static func remedy(of error: BusError) -> String {
        error.isTimeout
            ? "look at '\(InitSystem.ofThisMachine.command(.status, "bluetooth"))'"
            : "stop the program that has registered the Serial Port Profile (UUID 1101), "
                + "or give the bridge's user access to org.bluez"
    }

    /// Bluetoothd brings nothing back by itself here: the bridge calls, at the pace of its machines. A bond is wanted of every
    /// device, so that its channel is encrypted.
    private static let options = BusValue.properties([
        ("Name", .string("WakeBridge serial port")), ("Role", .string("client")), ("AutoConnect", .boolean(false)),
        ("RequireAuthentication", .boolean(true)),
    ])

    private func handleRegistered() {
        standing = .registered
        backOff.reset()
        toldWhy = nil
        report("", .registered)
    }

    /// Said once: it is tried for as long as it is refused.
    private func registerLater(_ why: String) {
        if toldWhy != why { Log("bluetooth").warning("\(why); it is tried again") }
        toldWhy = why
        registerLater(.other(why))
    }

    private func registerLater(_ why: PortRefusal) {
        standing = .refused(why)
        again?.arm(at: SystemClock.monotonic() + backOff.next())
        report("", .refused(why))
    }

    /// The bus or bluetoothd is gone, and the registration with it.
    func reset() {
        forgetConnection()
        again?.disarm()
        backOff.reset()
        toldWhy = nil
    }

    // MARK: Calls of bluetoothd

    private func answer(_ request: BusRequest) {
        guard request.sender == client.owner else {
            return request.refuse(BusError(name: "org.freedesktop.DBus.Error.AccessDenied", message: "not bluetoothd"))
        }
        let place = request.arguments.first?.string ?? ""
        switch request.member {
        case "NewConnection":
            guard request.arguments.count > 1, let descriptor = request.arguments[1].descriptor else {
                return request.refuse(BusError(name: "org.bluez.Error.Rejected", message: "it holds no descriptor"))
            }
            report(place, .offered(OfferedChannel(request, descriptor)))
        case "RequestDisconnection":
            request.answer()
            report(place, .disconnect)
        case "Release":
            request.answer()
            standing = .none
            report("", .released)
        default:
            request.refuse(BusError(name: "org.freedesktop.DBus.Error.UnknownMethod", message: "not offered"))
        }
    }
}
