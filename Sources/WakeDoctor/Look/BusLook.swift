// Asks the message bus and bluetoothd, each question with a deadline: a hang is a finding, and is not waited out.
import Glibc
import WakeLoop
import WakeModel
import WakeSources
import WakeSystem

public enum BusLook {
    /// - Parameter patience: how long each of the three questions may take.
    public static func look(at address: BusAddress = .system, within patience: TimeSpan = .seconds(5)) -> BusState {
        do throws(SystemError) {
            let loop = try EventLoop()
            return try Conversation(loop, try BusConnection(on: loop, to: address), patience).state()
        } catch {
            return BusState(reaching: error.errno)
        }
    }
}

extension BusState {
    /// Why the bus could not be reached. A bus that hangs up before or after the first bytes are written refuses us
    /// either way.
    init(reaching reason: Errno) {
        switch reason {
        case .denied, .notPermitted: self = .refused(reason.description)
        case .brokenPipe, .connectionReset: self = .hungUp
        default: self = .absent(reason.description)
        }
    }

    fileprivate static var hungUp: BusState { .refused("it ended the connection") }
}

private struct Conversation {
    private enum Answer {
        case values([BusValue])
        case error(BusError)
        case silence
    }

    private let loop: EventLoop
    private let bus: BusConnection
    private let patience: TimeSpan

    init(_ loop: EventLoop, _ bus: BusConnection, _ patience: TimeSpan) {
        self.loop = loop
        self.bus = bus
        self.patience = patience
    }

    func state() throws(SystemError) -> BusState {
        // The bus itself answers this once it has accepted the connection.
        switch try ask(.ofBus("GetId", [])) {
        case .values: break
        case .error(let error): return bus.isLost ? .hungUp : .refused(error.message)
        case .silence: return .silent
        }
        switch try ask(.ofBus("GetNameOwner", [.string(BluezInterface.service)])) {
        case .values(let values): return .reached(try bluez(values.first?.string ?? ""))
        case .error: return .reached(.notRunning)
        case .silence: return .silent
        }
    }

    /// Uses the unique name: a call to the well-known name would have the bus start bluetoothd.
    private func bluez(_ owner: String) throws(SystemError) -> BluezState {
        switch try ask(BusCall(owner, "/", BluezInterface.objects, "GetManagedObjects", [])) {
        case .values(let values):
            var mirror = BluezMirror()
            if let objects = values.first { _ = mirror.apply(snapshot: objects) }
            var facts = BluezFacts(mirror)
            if facts.adapters.contains(where: \.isScanning) { facts.clients = try clients(besides: owner) }
            return .running(facts)
        case .error(let error): return BluezState(error)
        case .silence: return .silent("")
        }
    }

    /// Bluetoothd does not report for which program it scans. Each that uses it listens to it, and the bus lists
    /// listeners for root.
    /// Empty for other users, and for a bus without such a list.
    private func clients(besides owner: String) throws(SystemError) -> [BusClient] {
        let call = BusCall(
            "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.Debug.Stats", "GetAllMatchRules", [])
        guard case .values(let values) = try ask(call), case .dictionary(_, _, let listeners)? = values.first else {
            return []
        }
        var found: Set<BusClient> = []
        for listener in listeners.filter(Self.listensToBluetoothd).prefix(Self.mostClients) {
            guard let name = listener.key.string, name != owner else { continue }
            guard case .values(let numbers) = try ask(.ofBus("GetConnectionUnixProcessID", [.string(name)])),
                case .uint32(let process)? = numbers.first
            else { continue }
            if let client = BusClient(process: Int32(clamping: process)), client.mayScan { found.insert(client) }
        }
        return found.sorted { $0.process < $1.process }
    }

    private static let mostClients = 64

    private static func listensToBluetoothd(_ listener: BusEntry) -> Bool {
        guard case .array(_, let rules) = listener.value else { return false }
        return rules.contains { $0.string?.contains("'\(BluezInterface.service)'") == true }
    }

    /// The loop's deadline holds also before the bus accepts the connection, when sd-bus's own does not run yet.
    private func ask(_ call: BusCall) throws(SystemError) -> Answer {
        var answer: Answer?
        bus.call(call, within: patience) { result in
            switch result {
            case .success(let values): answer = .values(values)
            case .failure(let error): answer = .error(error)
            }
        }
        let deadline = SystemClock.monotonic() + patience
        while answer == nil {
            if bus.isLost { return .error(BusError(name: "", message: "")) }
            let left = deadline - SystemClock.monotonic()
            if left <= .zero { return .silence }
            try loop.runOnce(timeout: left)
        }
        return answer ?? .silence
    }
}

extension BusClient {
    /// Nil for a process that has ended, or that is not seen from here.
    init?(process: Int32) {
        guard let name = (try? File.text(at: "/proc/\(process)/comm"))?.split(separator: "\n").first else { return nil }
        let group = (try? File.text(at: "/proc/\(process)/cgroup")) ?? ""
        let unit = group.split(whereSeparator: { "/\n".contains($0) }).last { $0.hasSuffix(".service") }
        self.init(String(name), process: process, unit: unit.map(String.init))
    }

    /// Not we ourselves, nor what is known to use bluetoothd without a scan.
    fileprivate var mayScan: Bool {
        process != getpid()
            && ![
                "wakebridged", "NetworkManager", "ModemManager", "upowerd", "wireplumber", "pulseaudio", "pipewire",
            ].contains(name)
    }
}

extension BluezState {
    fileprivate init(_ error: BusError) {
        switch error.name {
        case "org.freedesktop.DBus.Error.AccessDenied": self = .refused(error.message)
        case _ where error.isTimeout: self = .silent("")
        // It has ended since the bus named it.
        case _ where error.isNobodyThere: self = .notRunning
        default: self = .silent(error.message)
        }
    }
}

extension BluezFacts {
    init(_ mirror: BluezMirror) {
        let peripherals = mirror.peripherals
        let adapters = mirror.adapters.sorted { $0.key < $1.key }.map { path, adapter in
            var facts = AdapterFacts(path.split(separator: "/").last.map(String.init) ?? path, adapter.address)
            facts.isPowered = adapter.isPowered
            facts.isBlocked = adapter.powerState == "off-blocked"
            facts.isScanning = adapter.isDiscovering
            // Compares path components: /org/bluez/hci1 is no folder of /org/bluez/hci10/dev_….
            let own = peripherals.filter { $0.key.hasPrefix(path + "/") }.map(\.value)
            facts.links = own.count(where: \.isConnected)
            facts.waiting = own.filter { $0.isTrusted && !$0.isConnected }.map(\.alias)
            return facts
        }
        self.init(adapters, tellsBonds: !peripherals.values.contains { $0.isPaired && $0.hasBond == nil })
    }
}
