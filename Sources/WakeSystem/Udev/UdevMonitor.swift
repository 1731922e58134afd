// Udev's announcements over netlink, each sent when the rules for a device have run.
import CUdev
import Glibc

/// Watch `raw` for readability and read until nothing is left, also when only an error is signalled: an overflow shows
/// that way.
public struct UdevMonitor: ~Copyable {
    public enum Reception: Hashable, Sendable {
        case record(UdevRecord)
        /// A message about something that is no accessory; there may be more.
        case irrelevant
        case nothing
        /// Messages were lost: more came than the socket holds, or one could not be read. Call `discard()` and enumerate to
        /// find what is attached.
        case overflow
    }

    /// The kernel's buffer, which it allocates only while messages wait.
    static let bufferBytes = 16 << 20

    private let handle: MonitorHandle
    public var raw: Int32 { udev_monitor_get_fd(handle.monitor) }

    /// Receives announcements of these subsystems from now on. The kernel drops the rest, and does not wake the daemon
    /// for it.
    public init(subsystems: [String]) throws(SystemError) {
        let made = try MonitorHandle()
        try Self.prepare(made.monitor, subsystems)
        handle = made
    }

    private static func prepare(_ monitor: OpaquePointer, _ subsystems: [String]) throws(SystemError) {
        for subsystem in subsystems {
            let type = subsystem == "usb" ? "usb_device" : nil
            _ = try attemptC { udev_monitor_filter_add_match_subsystem_devtype(monitor, subsystem, type) }
                .get("listen for the devices of", subsystem)
        }
        enlarge(udev_monitor_get_fd(monitor))
        _ = try attemptC { udev_monitor_enable_receiving(monitor) }.get("listen to", "udev")
    }

    /// Exceeds the system's limit if permitted, otherwise up to it: an overflow is handled, but costs more.
    private static func enlarge(_ descriptor: Int32) {
        var bytes = Int32(bufferBytes)
        let size = socklen_t(MemoryLayout<Int32>.size)
        guard setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, size) != 0 else { return }
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, size)
    }

    /// The next announcement, without waiting for one.
    public mutating func receive() -> Reception {
        while true {
            guard let device = udev_monitor_receive_device(handle.monitor) else {
                let failure = Errno.last
                precondition(failure != .badDescriptor, "the descriptor of udev's monitor was closed elsewhere")
                if failure == .interrupted { continue }
                return failure == .wouldBlock ? .nothing : .overflow
            }
            return UdevDevice(owning: device).record().map { .record($0) } ?? .irrelevant
        }
    }

    /// Discards all waiting messages before an enumeration that replaces them. The enumeration includes their devices.
    /// Read later, they could bring back a device whose removal was lost.
    public mutating func discard() {
        var byte: UInt8 = 0
        // More than ever fit at once: where messages come faster than this discards them, the older ones are gone by then.
        for _ in 0..<(Self.bufferBytes / 128) {
            guard recv(raw, &byte, 1, Int32(MSG_DONTWAIT)) < 0 else { continue }
            let failure = Errno.last
            guard failure == .interrupted || failure == Errno(code: ENOBUFS) else { return }
        }
    }
}

/// The monitor with its context. Not private: Swift 6.0 cannot link other modules' stored values of it then.
struct MonitorHandle: ~Copyable {
    private let context: UdevContext
    let monitor: OpaquePointer

    init() throws(SystemError) {
        let context = try UdevContext()
        guard let made = udev_monitor_new_from_netlink(context.handle, "udev") else {
            throw SystemError("listen to", "udev", .last)
        }
        self.context = context
        monitor = made
    }

    deinit { _ = udev_monitor_unref(monitor) }
}
