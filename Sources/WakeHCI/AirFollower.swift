// What the packets of the Linux monitor channel tell, as they pass: links that end and why, controllers that come and go.
import WakeModel

/// A Bluetooth controller, as the kernel introduces it.
public struct AirController: Hashable, Sendable {
    /// `hci0` is 0; counts anew with every controller that comes.
    public var index: UInt16
    public var address: String
    /// The kernel's name for it: `hci0`.
    public var name: String?
    /// The company that made it, by its number in Bluetooth's list; nil before the kernel knows.
    public var manufacturer: UInt16?

    /// The company's name, of those whose controllers are common.
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
        /// Told again where the kernel then says who it is behind a private address.
        case linkUp(address: String)
        /// `reason` is a word such as `remote-user`, or `0x3f` where there is none.
        case linkDropped(address: String, reason: String)
        /// Its link cannot be encrypted, in the words of `linkDropped`; that it ends is told after.
        case encryptionFailed(address: String, reason: String)
        /// The controller carries no more links than it does already.
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

    /// Those that are there, by index.
    public private(set) var controllers: [UInt16: AirController] = [:]
    private var links: [LinkKey: String] = [:]
    /// By adapter, the link that the kernel names next.
    private var unnamed: [UInt16: LinkKey] = [:]

    public init() {}

    /// Whose links are up now.
    public var addresses: Set<String> { Set(links.values) }

    /// Nil for whatever is about something else, or broken.
    public mutating func take(_ record: [UInt8]) -> Happening? {
        guard let packet = MonitorPacket(record) else { return nil }
        switch packet.opcode {
        case 0: return introduce(packet)
        case 1: return remove(packet.adapter)
        case 2: return takeCommand(packet)
        case 3: return takeEvent(packet)
        case 10: return inform(packet)
        case 17: return identify(packet)
        default: return nil
        }
    }

    private mutating func takeEvent(_ packet: MonitorPacket) -> Happening? {
        guard let code = packet.bytes.byte(0), let length = packet.bytes.byte(1),
            let body = packet.bytes.slice(2, Int(length)), let event = try? LinkEvent(code: code, body: body)
        else { return nil }
        return take(event, of: packet.adapter)
    }

    /// LE Set Scan Enable and its extended form: the opcode, the length, whether it shall.
    private func takeCommand(_ packet: MonitorPacket) -> Happening? {
        guard let opcode = packet.bytes.word(0), opcode == 0x200c || opcode == 0x2042, packet.bytes.byte(3) == 1
        else { return nil }
        return .scans(index: packet.adapter)
    }

    private mutating func take(_ event: LinkEvent, of adapter: UInt16) -> Happening? {
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

    /// Device Connected of the management channel, which the kernel tells of each new link just after the controller did, by
    /// the identity address that it knows behind a private one: four bytes of cookie, the event, the address and its type.
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
        let name = packet.bytes.dropFirst(8).prefix(8).prefix { $0 != 0 }
        let text = name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
        return note(AirController(index: packet.adapter, address: address, name: text))
    }

    /// Index Information: the address, now that it is known for sure, and the manufacturer.
    private mutating func inform(_ packet: MonitorPacket) -> Happening? {
        guard let address = packet.bytes.address(0), let manufacturer = packet.bytes.word(6) else { return nil }
        let name = controllers[packet.adapter]?.name
        return note(AirController(index: packet.adapter, address: address, name: name, manufacturer: manufacturer))
    }

    private mutating func note(_ controller: AirController) -> Happening {
        controllers[controller.index] = controller
        return .controller(controller)
    }

    private mutating func remove(_ adapter: UInt16) -> Happening? {
        links = links.filter { $0.key.adapter != adapter }
        unnamed[adapter] = nil
        return controllers.removeValue(forKey: adapter).map { _ in .controllerGone(index: adapter) }
    }
}
