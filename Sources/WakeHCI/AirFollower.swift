// Follows the packets of the Linux monitor channel: links that end and why, controllers that come and go.
import WakeModel

/// A Bluetooth controller, as the kernel introduces it.
public struct AirController: Hashable, Sendable {
    /// 0 for `hci0`; a controller that comes back may get another one.
    public var index: UInt16
    public var address: String
    /// The kernel's name for it: `hci0`.
    public var name: String?
    /// The maker's number in Bluetooth's list of companies; nil before the kernel knows it.
    public var manufacturer: UInt16?

    /// The maker's name, for common makers.
    public var maker: String? {
        switch manufacturer {
        case 0x0002: "Intel"
        case 0x000a: "Cambridge Silicon Radio"
        case 0x000d: "Texas Instruments"
        case 0x000f: "Broadcom"
        case 0x001d: "Qualcomm"
        case 0x0046: "MediaTek"
        case 0x005d: "Realtek"
        case 0x0131: "Cypress"
        default: nil
        }
    }
}

public struct AirFollower: Sendable {
    public enum Happening: Hashable, Sendable {
        /// Reported again where the kernel then resolves a private address.
        case linkUp(address: String)
        /// `reason` is a name such as `remote-user`, or `0x3f` where there is none.
        case linkDropped(address: String, reason: String)
        /// The link cannot be encrypted; `reason` as in `linkDropped`, which follows.
        case encryptionFailed(address: String, reason: String)
        /// The controller has no room for another link.
        case noRoom(index: UInt16)
        /// The controller gave up a connection to an LE peripheral that it had begun.
        case connectFailed(index: UInt16, forWantOfRoom: Bool)
        /// The kernel has the controller listen for advertisements.
        case scans(index: UInt16)
        case controller(AirController)
        case controllerGone(index: UInt16)
    }

    private struct LinkKey: Hashable {
        var adapter: UInt16
        var handle: UInt16
    }

    /// The present controllers, by index.
    public private(set) var controllers: [UInt16: AirController] = [:]
    private var links: [LinkKey: String] = [:]
    /// By adapter, the link whose identity the kernel reports next.
    private var unnamed: [UInt16: LinkKey] = [:]

    public init() {}

    /// The addresses of the peers whose links are up.
    public var addresses: Set<String> { Set(links.values) }

    /// Updates the state; nil for a packet that is about something else, or malformed.
    public mutating func ingest(_ record: [UInt8]) -> Happening? {
        guard let packet = MonitorPacket(record) else { return nil }
        switch packet.opcode {
        case 0: return introduce(packet)
        case 1: return remove(packet.adapter)
        case 2: return readCommand(packet)
        case 3: return readEvent(packet)
        case 10: return inform(packet)
        case 17: return identify(packet)
        default: return nil
        }
    }

    private mutating func readEvent(_ packet: MonitorPacket) -> Happening? {
        guard let code = packet.bytes.byte(0), let length = packet.bytes.byte(1),
            let body = packet.bytes.slice(2, Int(length)), let event = try? LinkEvent(code: code, body: body)
        else { return nil }
        return apply(event, of: packet.adapter)
    }

    /// LE Set Scan Enable and its extended form: the opcode, the length, whether to scan.
    private func readCommand(_ packet: MonitorPacket) -> Happening? {
        guard let opcode = packet.bytes.word(0), opcode == 0x200c || opcode == 0x2042, packet.bytes.byte(3) == 1
        else { return nil }
        return .scans(index: packet.adapter)
    }

    private mutating func apply(_ event: LinkEvent, of adapter: UInt16) -> Happening? {
        switch event {
        case .connected(let handle, let address):
            let key = LinkKey(adapter: adapter, handle: handle)
            links[key] = address
            unnamed[adapter] = key
            return .linkUp(address: address)
        case .classicConnected(let handle):
            links[LinkKey(adapter: adapter, handle: handle)] = nil
            return nil
        case .disconnected(let handle, let reason):
            return links.removeValue(forKey: LinkKey(adapter: adapter, handle: handle)).map {
                .linkDropped(address: $0, reason: disconnectReason(reason))
            }
        case .unencrypted(let handle, let status):
            return links[LinkKey(adapter: adapter, handle: handle)].map {
                .encryptionFailed(address: $0, reason: disconnectReason(status))
            }
        case .noRoom: return .noRoom(index: adapter)
        case .failed(let forWantOfRoom): return .connectFailed(index: adapter, forWantOfRoom: forWantOfRoom)
        case .nothing: return nil
        }
    }

    /// Device Connected of the management channel, which follows the controller's event for each new link. It has the identity
    /// address behind a private one: four bytes of cookie, the event, the address and its type.
    private mutating func identify(_ packet: MonitorPacket) -> Happening? {
        guard packet.bytes.word(4) == 0x000b, let address = packet.bytes.address(6),
            let type = packet.bytes.byte(12), type == 1 || type == 2,
            let key = unnamed.removeValue(forKey: packet.adapter), let known = links[key], known != address
        else { return nil }
        links[key] = address
        return .linkUp(address: address)
    }

    /// New Index: two bytes of kind, the address, a name of eight bytes.
    private mutating func introduce(_ packet: MonitorPacket) -> Happening? {
        guard let address = packet.bytes.address(2) else { return nil }
        let name = packet.bytes.dropFirst(8).prefix(8).prefix { $0 != 0 }.textPrefix
        let text = name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
        return update(AirController(index: packet.adapter, address: address, name: text))
    }

    /// Index Information: the final address, and the manufacturer.
    private mutating func inform(_ packet: MonitorPacket) -> Happening? {
        guard let address = packet.bytes.address(0), let manufacturer = packet.bytes.word(6) else { return nil }
        let name = controllers[packet.adapter]?.name
        return update(AirController(index: packet.adapter, address: address, name: name, manufacturer: manufacturer))
    }

    private mutating func update(_ controller: AirController) -> Happening {
        controllers[controller.index] = controller
        return .controller(controller)
    }

    private mutating func remove(_ adapter: UInt16) -> Happening? {
        links = links.filter { $0.key.adapter != adapter }
        unnamed[adapter] = nil
        return controllers.removeValue(forKey: adapter).map { _ in .controllerGone(index: adapter) }
    }
}
