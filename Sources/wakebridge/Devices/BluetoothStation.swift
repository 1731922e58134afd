// The tool's connection to bluetoothd: opens it and waits for it. The error for a missing part gives the remedy.
import Glibc
import WakeArguments
import WakeDaemon
import WakeEngine
import WakeLoop
import WakeModel
import WakePairing
import WakeProfiles
import WakeSources
import WakeSystem

final class BluetoothStation {
    let turns: ToolLoop
    let client: BluezClient
    let profiles: ProfileLibrary
    var didChange: (BluezChange) -> Void = { _ in }
    private let bus: SystemBus
    var loop: EventLoop { turns.loop }
    var isInterrupted: Bool { turns.isInterrupted }

    convenience init() throws(Complaint) { try self.init(on: try ToolLoop(), NamedPlaces.own.library) }

    /// Returns when bluetoothd's objects are known.
    init(on turns: ToolLoop, _ profiles: ProfileLibrary) throws(Complaint) {
        self.turns = turns
        self.profiles = profiles
        do {
            // A temporary connection: it fails at once where SystemBus would wait.
            _ = try BusConnection(on: turns.loop)
            bus = SystemBus(on: turns.loop)
            client = BluezClient(bus)
            try bus.open()
        } catch {
            throw .failure("\(error.description); start the message bus with '\(Self.service(.start, "dbus"))'")
        }
        client.listen(self)
        try findBluetoothd()
    }

    @discardableResult
    func turn(until deadline: Instant? = nil, stopsAtInterrupt: Bool = true, _ condition: () -> Bool) throws(Complaint)
        -> Bool
    { try turns.turn(until: deadline, stopsAtInterrupt: stopsAtInterrupt, condition) }

    /// The first request starts bluetoothd, where the system is set up that way.
    private func findBluetoothd() throws(Complaint) {
        var refusal: BusError?
        bus.connection?.call(.ofBus("NameHasOwner", [.string(BluezInterface.service)]), within: .seconds(5)) {
            [bus] result in
            if case .success(let values) = result, values.first?.boolean == true { return }
            let start = BusCall.ofBus("StartServiceByName", [.string(BluezInterface.service), .uint32(0)])
            bus.connection?.call(start, within: .milliseconds(8_500)) { result in
                if case .failure(let error) = result { refusal = error }
            }
        }
        let deadline = SystemClock.monotonic() + .seconds(10)
        try turn(until: deadline) { client.isThere || refusal != nil }
        if client.isThere { return }
        if isInterrupted { throw .failure("interrupted before bluetoothd answered") }
        if let refusal, !refusal.isTimeout, refusal.isNobodyThere {
            throw .failure(
                "bluetoothd is not running; start it with '\(Self.service(.start, "bluetooth"))', or install it with "
                    + "'apt install bluez'"
            )
        }
        let reason = refusal?.description ?? "no answer in 10 s"
        if refusal?.isDenied == true {
            throw .notPermitted(
                "you may not speak with bluetoothd: \(reason); use sudo, or join the group bluetooth")
        }
        throw .failure(
            "bluetoothd does not answer: \(reason); see '\(Self.service(.status, "bluetooth"))', and that you are root or "
                + "in the group bluetooth")
    }

    private static func service(_ verb: InitSystem.Verb, _ name: String) -> String {
        InitSystem.ofThisMachine.command(verb, name)
    }

    func profile(of peripheral: BluezPeripheral) -> String? {
        profiles.profile(of: peripheral)?.name
    }

    /// Why an adapter disappeared: when bluetoothd ends, all do.
    var lossOfAdapter: String {
        client.isThere
            ? "the adapter is gone; plug it in again"
            : "bluetoothd ended; see '\(Self.service(.status, "bluetooth"))', and try again once it runs"
    }

    func neighbour(at path: String) -> Neighbour? {
        client.mirror.neighbour(at: path) { profile(of: $0) }
    }
}

extension BluetoothStation: BluezListener {
    func bluezDidAppear() {}
    func bluezDidVanish() {}
    func bluez(did change: BluezChange) { didChange(change) }
}

// MARK: Adapters

extension BluetoothStation {
    static let adapterFlag = Flag(
        "adapter", short: "i", value: "ADDRESS", "use this adapter only, by its address; all of them if not given")

    /// The paths of the named adapters that are powered; of all, where `words` names none.
    func adapters(_ words: ParsedArguments) throws(Complaint) -> Set<String> {
        let wanted = try words.value("adapter").map { text throws(Complaint) in try Self.address(text) }
        // A bluetoothd that has just started finds its adapters a moment later.
        try turn(until: SystemClock.monotonic() + .seconds(2)) { !client.mirror.adapters.isEmpty }
        let all = client.mirror.adapters
        if all.isEmpty { throw Self.noAdapter }
        let named = all.filter { wanted == nil || $0.value.address.uppercased() == wanted }
        if named.isEmpty {
            let known = all.values.map(\.address).sorted().joined(separator: ", ")
            throw .notFound("there is no adapter \(wanted ?? ""); there is \(known)")
        }
        let powered = named.filter(\.value.isPowered)
        if let adapter = named.values.first, powered.isEmpty { throw Self.unpowered(adapter) }
        return Set(powered.keys)
    }

    private static func address(_ text: String) throws(Complaint) -> String {
        let bytes = text.split(separator: ":", omittingEmptySubsequences: false)
        guard bytes.count == 6, bytes.allSatisfy({ $0.utf8.count == 2 && UInt8($0, radix: 16) != nil }) else {
            throw .usage("--adapter '\(text)' is no address such as 00:1A:7D:DA:71:13; names such as hci0 move")
        }
        return text.uppercased()
    }

    private static var noAdapter: Complaint {
        switch RfkillState.look() {
        case .blockedByHardware:
            .failure("Bluetooth is switched off on the machine itself; use its wireless switch or key")
        case .blockedBySoftware: .failure("Bluetooth is blocked; unblock it with 'rfkill unblock bluetooth'")
        case .open:
            .failure("there is no Bluetooth adapter; plug one in, and see what 'dmesg | grep -i bluetooth' says of it")
        }
    }

    private static func unpowered(_ adapter: BluezAdapter) -> Complaint {
        switch RfkillState.look() {
        case .blockedByHardware:
            return .failure(
                "adapter \(adapter.address) is switched off on the machine itself; use its wireless switch or key")
        case .blockedBySoftware: return blocked(adapter)
        case .open:
            if adapter.powerState == "off-blocked" { return blocked(adapter) }
            return .failure("adapter \(adapter.address) is off; switch it on with 'bluetoothctl power on'")
        }
    }

    private static func blocked(_ adapter: BluezAdapter) -> Complaint {
        .failure("adapter \(adapter.address) is blocked; unblock it with 'rfkill unblock bluetooth'")
    }
}

/// Reads typed lines on the loop.
final class Keyboard {
    private let input: FileDescriptor
    private var watch: Watch?
    private var typed: [UInt8] = []

    /// Whether both standard input and the output of questions are terminals.
    static var isThere: Bool { isatty(0) == 1 && isatty(2) == 1 }

    /// Calls `body` with each line, and with nil at the end.
    init(on loop: EventLoop, _ body: @escaping (String?) -> Void) throws(SystemError) {
        input = try FileDescriptor.duplicate(of: 0)
        watch = try loop.watch(input.raw, for: .readable) { [unowned self] _ in read(body) }
    }

    deinit { watch?.cancel() }

    private func read(_ body: (String?) -> Void) {
        guard case .bytes? = try? input.read(appendingTo: &typed, limit: 1024) else {
            watch?.disable()
            return body(nil)
        }
        while let end = typed.firstIndex(of: UInt8(ascii: "\n")) {
            let line = String(decoding: typed[..<end], as: UTF8.self)
            typed.removeFirst(end + 1)
            body(line)
        }
    }
}
