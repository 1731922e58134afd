// Listens on the kernel's monitor channel: since when links are up, why they fail and end, and which controllers there
// are. Bluetoothd reports none of these.
import WakeHCI
import WakeLoop
import WakeModel
import WakeSystem

/// Costs nothing while no link comes or goes and no program scans: the kernel drops every other packet before the loop would be woken for it.
public final class HCIMonitor {
    /// The link of the peripheral at this address ended then; bluetoothd reports it later.
    public var onDrop: (_ address: String, _ reason: String, _ at: WallTime) -> Void = { _, _, _ in }
    /// The peripheral's link could not be encrypted; its end is reported after.
    public var onEncryptionFailure: (_ address: String, _ reason: String) -> Void = { _, _ in }
    /// The controller with this index refused another link.
    public var onNoRoom: (_ index: UInt16) -> Void = { _ in }
    /// The controller with this index gave up a connection that the kernel had begun.
    public var onConnectFailure: (_ index: UInt16) -> Void = { _ in }
    /// The kernel has the controller with this index listen for advertisements.
    public var onScan: (_ index: UInt16) -> Void = { _ in }
    public private(set) var follower = AirFollower()
    private var upSince: [String: Instant] = [:]
    private var socket: MonitorSocket
    private var watch: Watch?

    /// The present controllers, by index.
    public var controllers: [AirController] { follower.controllers.values.sorted { $0.index < $1.index } }

    /// Since when the link of the peripheral at this address is up; nil if it is not, or its start was not received.
    public func upSince(_ address: String) -> Instant? { upSince[address] }

    public convenience init(on loop: EventLoop) throws(SystemError) {
        try self.init(MonitorSocket(linksOnly: true), on: loop)
    }

    init(_ socket: consuming MonitorSocket, on loop: EventLoop) throws(SystemError) {
        self.socket = socket
        listen()
        // Before the bus, so that the reason is known when bluetoothd reports that the link is gone.
        watch = try loop.watch(self.socket.raw, for: .readable, priority: .important, cause: .bluetooth, of: self) {
            $0.listen()
        }
    }

    /// Before what it watches is closed.
    deinit { watch?.cancel() }

    /// Nil if the channel cannot be had; the log then reports once that the reasons of disconnects are unknown.
    public static func ifAllowed(on loop: EventLoop) -> HCIMonitor? {
        do { return try HCIMonitor(on: loop) } catch {
            Log("bluetooth").notice("why links end will not be known: \(error)")
            return nil
        }
    }

    /// The controllers as the kernel introduces them to a new listener.
    public static func controllersNow() throws(SystemError) -> [AirController] {
        var socket = try MonitorSocket(linksOnly: true)
        var follower = AirFollower()
        while let record = try socket.receive() { _ = follower.ingest(record.bytes) }
        return follower.controllers.values.sorted { $0.index < $1.index }
    }

    private func listen() {
        do {
            while let record = try socket.receive() { apply(record) }
        } catch {
            Log("bluetooth").warning("why links end will not be known any more: \(error)")
            watch = nil
        }
    }

    private func apply(_ record: MonitorRecord) {
        switch follower.ingest(record.bytes) {
        case .linkUp(let address): upSince[address] = SystemClock.monotonic()
        case .linkDropped(let address, let reason):
            forgetOthers()
            onDrop(address, reason, record.time)
        case .encryptionFailed(let address, let reason): onEncryptionFailure(address, reason)
        case .noRoom(let index): onNoRoom(index)
        case .connectFailed(let index, let forWantOfRoom):
            if forWantOfRoom { onNoRoom(index) }
            onConnectFailure(index)
        case .scans(let index): onScan(index)
        case .controllerGone: forgetOthers()
        case .controller, nil: break
        }
    }

    private func forgetOthers() { upSince = upSince.filter { follower.addresses.contains($0.key) } }
}
