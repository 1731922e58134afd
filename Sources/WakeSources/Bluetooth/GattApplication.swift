// What makes bluetoothd bring peripherals back by itself: a profile of ours for every service we know, registered with
// every adapter, so that the kernel's accept list connects while the bridge sleeps (org.bluez.GattProfile1).
import WakeLoop
import WakeModel
import WakeSystem

final class GattApplication {
    private unowned let client: BluezClient
    private let services: [BluetoothUUID]
    private var objects: [BusObject] = []
    private var adapters: Set<String> = []
    /// Counts the lives of bluetoothd, so that an answer of an earlier one is known as such.
    private var life = 0
    private let log = Log("bluetooth")

    private static let root = "/org/wakebridge"
    private static let profilePath = root + "/profile"

    init(_ client: BluezClient, services: [BluetoothUUID]) {
        self.client = client
        self.services = services
    }

    /// To be called for every adapter, in every life of bluetoothd.
    func register(with adapter: String) {
        guard !services.isEmpty, adapters.insert(adapter).inserted else { return }
        offer()
        let life = life
        client.call(
            adapter, "org.bluez.GattManager1", "RegisterApplication",
            [.objectPath(Self.root), .properties([])], within: .seconds(10)
        ) { [weak self] result in
            guard let self, self.life == life, case .failure(let error) = result else { return }
            // An earlier call of ours that was not answered in time was heard all the same.
            guard error.name != "org.bluez.Error.AlreadyExists" else { return }
            adapters.remove(adapter)
            log.warning(
                "could not register with \(adapter): \(error); peripherals are connected when they advertise instead")
        }
    }

    func forget(_ adapter: String) { adapters.remove(adapter) }

    /// The bus or bluetoothd is gone, and our registration with it.
    func reset() {
        life += 1
        adapters = []
        objects = []
    }

    private func offer() {
        guard objects.isEmpty else { return }
        objects = [
            client.export(at: Self.root) { [unowned self] in answer($0) },
            // Bluetoothd says Release when it lets the profile go; there is nothing to do for it.
            client.export(at: Self.profilePath) { $0.answer() },
        ].compactMap { $0 }
    }

    private func answer(_ request: BusRequest) {
        guard request.interface == BluezInterface.objects, request.member == "GetManagedObjects" else {
            return request.refuse(BusError(name: "org.freedesktop.DBus.Error.UnknownMethod", message: "not offered"))
        }
        let uuids = BusValue.array(of: "s", services.map { .string($0.full) })
        let interfaces = BusValue.dictionary(
            key: "s", value: "a{sv}",
            [BusEntry(.string("org.bluez.GattProfile1"), .properties([("UUIDs", uuids)]))])
        request.answer([
            .dictionary(
                key: "o", value: "a{sa{sv}}", [BusEntry(.objectPath(Self.profilePath), interfaces)])
        ])
    }
}

extension BluetoothUUID {
    /// The 36-character form, which bluetoothd writes and reads.
    var full: String {
        guard let short else { return description }
        let digits = String(short, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits + "-0000-1000-8000-00805f9b34fb"
    }
}
