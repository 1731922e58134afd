// What udev knows now: the devices that are attached and whose rules have run, found by enumeration.
import CUdev
import Glibc

public enum Udev {
    /// Without udevd nobody gives nodes their permissions and nobody announces devices, as in most containers; a monitor
    /// made meanwhile may stay deaf for ever.
    public static var isRunning: Bool { File.exists("/run/udev/control") }

    /// The accessories among the devices of these subsystems whose rules have run, parents before children. Whoever listens
    /// as well opens the monitor first: what comes between is then heard, and what is heard twice does no harm.
    public static func enumerate(subsystems: [String]) throws(SystemError) -> [UdevRecord] {
        let context = try UdevContext()
        let enumeration = try UdevEnumeration(context)
        try enumeration.scan(subsystems)
        return enumeration.paths().compactMap { path in
            // What was unplugged since the scan is simply not there.
            guard let device = UdevDevice(context, at: path), device.isInitialized else { return nil }
            return device.record()
        }
    }
}

/// libudev's context. It belongs to one thread, as all that is made of it does.
struct UdevContext: ~Copyable {
    let handle: OpaquePointer

    init() throws(SystemError) {
        guard let made = udev_new() else { throw SystemError("make", "a context of libudev", .last) }
        handle = made
    }

    deinit { _ = udev_unref(handle) }
}

private struct UdevEnumeration: ~Copyable {
    private let handle: OpaquePointer

    init(_ context: borrowing UdevContext) throws(SystemError) {
        guard let made = udev_enumerate_new(context.handle) else {
            throw SystemError("make", "an enumeration of libudev", .last)
        }
        handle = made
    }

    deinit { _ = udev_enumerate_unref(handle) }

    borrowing func scan(_ subsystems: [String]) throws(SystemError) {
        let enumeration = handle
        for subsystem in subsystems {
            _ = try attemptC { udev_enumerate_add_match_subsystem(enumeration, subsystem) }
                .get("look for the devices of", subsystem)
        }
        _ = try attemptC { udev_enumerate_add_match_is_initialized(enumeration) }.get("look for", "ready devices")
        _ = try attemptC { udev_enumerate_scan_devices(enumeration) }.get("look for devices in", "/sys")
    }

    borrowing func paths() -> [String] {
        var paths: [String] = []
        var entry = udev_enumerate_get_list_entry(handle)
        while let current = entry {
            if let path = UdevDevice.text(udev_list_entry_get_name(current), limit: Int(PATH_MAX)) {
                paths.append(path)
            }
            entry = udev_list_entry_get_next(current)
        }
        return paths
    }
}
