// Makes bluetoothd reconnect peripherals by itself. It registers a profile for every known service with every adapter
// (org.bluez.GattProfile1). The kernel's accept list then connects while the bridge sleeps.
import WakeLoop
import WakeModel
import WakeSystem

final class GattApplication {
    private unowned let client: BluezClient
    /// The services that each application of the bridge offers. The profiles' services are the first; those of single
    /// peripherals follow, since bluetoothd reads an application only once.
    private var offers: [[BluetoothUUID]]
    private var objects: [BusObject] = []
    private var adapters: Set<String> = []
    /// By adapter and application; without the refused ones.
    private var registered: Set<Registration> = []
    /// Counts the lives of bluetoothd, so that an answer of an earlier one is known as such.
    private var life = 0
    /// Armed while a registration was refused.
    private var again: Timer?
    private var backOff = BackOff(from: .milliseconds(500), to: .seconds(60))
    private let log = Log("bluetooth")

    private struct Registration: Hashable {
        var adapter: String
        var application: Int
    }

    /// Services that nearly every peripheral has: to reconnect for them would be to reconnect every bonded one.
    private static let common = Set([0x1800, 0x1801, 0x180a, 0x180f].map { BluetoothUUID(short: $0) })

    init(_ client: BluezClient, services: [BluetoothUUID], on loop: EventLoop) throws(SystemError) {
        self.client = client
        offers = [services]
        again = try loop.timer(on: .monotonic, of: self) { $0.register() }
    }

    /// To be called for every adapter, in every life of bluetoothd.
    func register(with adapter: String) {
        guard adapters.insert(adapter).inserted else { return }
        register()
    }

    /// Offers a service of the peripheral's own. One that is known by its name or its advertisements has none of the
    /// registered services, so bluetoothd would not reconnect it.
    func cover(_ services: Set<BluetoothUUID>) {
        guard services.isDisjoint(with: offers.joined()) else { return }
        let own = services.subtracting(Self.common).sorted { $0.full < $1.full }
        // The longer it is, the fewer others have it.
        guard let service = own.first(where: { $0.short == nil }) ?? own.first else { return }
        offers.append([service])
        register()
    }

    /// Adds the services of profiles that came later.
    func add(_ services: [BluetoothUUID]) {
        let news = services.filter { !offers.joined().contains($0) }
        guard !news.isEmpty else { return }
        offers.append(news)
        register()
    }

    /// Whether bluetoothd makes the kernel wait for a peripheral that offers any of these.
    func awaits(_ services: Set<BluetoothUUID>, on adapter: String) -> Bool {
        offers.indices.contains { number in
            registered.contains(Registration(adapter: adapter, application: number))
                && !services.isDisjoint(with: offers[number])
        }
    }

    func forget(_ adapter: String) {
        adapters.remove(adapter)
        registered = registered.filter { $0.adapter != adapter }
    }

    /// The bus or bluetoothd is gone, and the registration with it.
    func reset() {
        life += 1
        adapters = []
        registered = []
        objects = []
        again?.disarm()
        backOff.reset()
    }

    private func register() {
        for adapter in adapters {
            for number in offers.indices where !offers[number].isEmpty {
                register(Registration(adapter: adapter, application: number))
            }
        }
    }

    private func register(_ registration: Registration) {
        guard registered.insert(registration).inserted else { return }
        offer()
        let life = life
        client.call(
            registration.adapter, "org.bluez.GattManager1", "RegisterApplication",
            [.objectPath(Self.root(registration.application)), .properties([])], within: .seconds(10)
        ) { [weak self] result in
            guard let self, self.life == life else { return }
            switch result {
            case .success: backOff.reset()
            // An earlier call that was not answered in time has reached bluetoothd all the same.
            case .failure(let error) where error.name == "org.bluez.Error.AlreadyExists": break
            case .failure(let error): registerLater(registration, error)
            }
        }
    }

    private func registerLater(_ registration: Registration, _ error: BusError) {
        guard registered.remove(registration) != nil else { return }
        let wait = backOff.next()
        log.warning(
            "could not register with \(registration.adapter): \(error); peripherals do not come back by themselves until "
                + "that has worked, and it is tried again in \(wait.spoken)")
        again?.arm(at: SystemClock.monotonic() + wait)
    }

    // MARK: The objects

    private static func root(_ application: Int) -> String { "/org/wakebridge/application\(application)" }
    private static func profile(_ application: Int) -> String { root(application) + "/profile" }

    private func offer() {
        for number in (objects.count / 2)..<offers.count {
            let made = [
                client.export(at: Self.root(number)) { [unowned self] in answer($0, number) },
                // Bluetoothd calls Release when it drops the profile; no action follows.
                client.export(at: Self.profile(number)) { $0.answer() },
            ].compactMap { $0 }
            guard made.count == 2 else { return }
            objects += made
        }
    }

    private func answer(_ request: BusRequest, _ application: Int) {
        guard request.interface == BluezInterface.objects, request.member == "GetManagedObjects" else {
            return request.refuse(BusError(name: "org.freedesktop.DBus.Error.UnknownMethod", message: "not offered"))
        }
        let uuids = BusValue.array(of: "s", offers[application].map { .string($0.full) })
        let interfaces = BusValue.dictionary(
            key: "s", value: "a{sv}",
            [BusEntry(.string("org.bluez.GattProfile1"), .properties([("UUIDs", uuids)]))])
        request.answer([
            .dictionary(
                key: "o", value: "a{sa{sv}}", [BusEntry(.objectPath(Self.profile(application)), interfaces)])
        ])
    }
}

extension BluetoothUUID {
    /// The 36-character form, which bluetoothd writes and reads.
    package var full: String {
        guard let short else { return description }
        let digits = String(short, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits + "-0000-1000-8000-00805f9b34fb"
    }
}
