// The kernel's Bluetooth monitor channel: all packets between this machine and its controllers, or only those about links.
// Needs CAP_NET_RAW.
import CBluetooth
import Glibc
import WakeModel

/// A packet of the monitor channel, with its header of six bytes, and its time.
public struct MonitorRecord: Hashable, Sendable {
    public var bytes: [UInt8]
    public var time: WallTime
}

public struct MonitorSocket: ~Copyable {
    private let descriptor: FileDescriptor
    private var space: [UInt8]

    /// Six bytes of header and the largest HCI packet.
    private static let packetBytes = 6 + 65_540
    /// An HCI event has two bytes of header and at most 255 more; the event of a new link includes its advertisement.
    private static let linkPacketBytes = 6 + 512
    /// The most bytes that may wait unread: seconds of busy traffic.
    private static let bufferBytes = 4 << 20

    public var raw: Int32 { descriptor.raw }

    /// With `linksOnly` the kernel drops all packets but those about links and controllers, and does not wake the
    /// daemon for the rest.
    public init(linksOnly: Bool) throws(SystemError) {
        let made = FileDescriptor(owning: Int32(try Self.check(wake_bluetooth_socket(), "open")))
        try Self.prepare(made, linksOnly: linksOnly)
        _ = try Self.check(wake_monitor_bind(made.raw), "listen to")
        self.init(owning: made, packetBytes: linksOnly ? Self.linkPacketBytes : Self.packetBytes)
    }

    /// With reports of advertisements alone.
    public init(hearing addresses: [RadioAddress]?) throws(SystemError) {
        let made = FileDescriptor(owning: Int32(try Self.check(wake_bluetooth_socket(), "open")))
        wake_monitor_prepare(made.raw, Int32(Self.bufferBytes >> 4))
        try Self.keepReports(of: addresses, made.raw)
        _ = try Self.check(wake_monitor_bind(made.raw), "listen to")
        self.init(owning: made, packetBytes: Self.linkPacketBytes)
    }

    /// From now on. The kernel drops advertisements of other addresses, and does not wake the daemon for them.
    /// - Parameter addresses: nil for all of them. More than the kernel can distinguish are all, too.
    public func keepReports(of addresses: [RadioAddress]?) throws(SystemError) {
        try Self.keepReports(of: addresses, raw)
    }

    private static func keepReports(of addresses: [RadioAddress]?, _ raw: Int32) throws(SystemError) {
        let isAll = (addresses?.count ?? .max) > mostAddresses
        // An empty list becomes an address that no device has.
        let kept = isAll ? [] : addresses.map { $0.isEmpty ? [RadioAddress(number: 0)] : $0 } ?? []
        _ = try check(wake_monitor_keep_reports(raw, kept.flatMap(\.sent), kept.count), "filter")
    }

    private static let mostAddresses = Int(WAKE_MOST_REPORTED)

    /// Uses a socket that carries packets of the channel.
    package init(owning descriptor: consuming FileDescriptor, packetBytes: Int) {
        self.descriptor = descriptor
        space = [UInt8](repeating: 0, count: packetBytes)
    }

    /// Sets the filter before the first packet can arrive.
    static func prepare(_ descriptor: borrowing FileDescriptor, linksOnly: Bool) throws(SystemError) {
        wake_monitor_prepare(descriptor.raw, Int32(linksOnly ? bufferBytes >> 6 : bufferBytes))
        if linksOnly { _ = try check(wake_monitor_keep_links(descriptor.raw), "filter") }
    }

    /// The next packet; nil while there is none.
    public mutating func receive() throws(SystemError) -> MonitorRecord? {
        var time = SystemClock.wall().microseconds
        let (number, size) = (raw, space.count)
        switch attemptC({ wake_monitor_receive(number, &space, size, &time) }) {
        case .value(let count):
            return MonitorRecord(bytes: Array(space[..<count]), time: WallTime(microseconds: time))
        case .failure(.wouldBlock): return nil
        case .failure(let errno): throw SystemError("read", Self.subject, errno)
        }
    }

    private static let subject = "the Bluetooth monitor channel"

    private static func check(_ code: Int32, _ attempted: String) throws(SystemError) -> Int {
        try attemptC { code }.get(attempted, subject, advice: advice)
    }

    private static func advice(_ errno: Errno) -> String? {
        switch errno.code {
        case EAFNOSUPPORT, EPROTONOSUPPORT:
            "this kernel has no Bluetooth; load it with 'modprobe bluetooth', or use one that has it"
        case EPERM, EACCES: "it needs CAP_NET_RAW; run it as root, with sudo"
        default: nil
        }
    }
}
