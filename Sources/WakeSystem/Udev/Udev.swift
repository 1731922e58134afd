// Enumerates the attached devices whose udev rules have run.
import CUdev
import Glibc

public enum Udev {
    /// Without udevd, as in most containers, nodes get no permissions and devices are not announced. A monitor made meanwhile
    /// may never receive anything.
    public static var isRunning: Bool { File.exists("/run/udev/control") }

    /// The accessories of these subsystems whose rules have run, parents before children. Open a monitor first if you need
    /// one: it then receives what comes in between, and a device reported twice does no harm.
    public static func enumerate(subsystems: [String]) throws(SystemError) -> [UdevRecord] {
        let context = try UdevContext()
        let enumeration = try UdevEnumeration(context)
        try enumeration.scan(subsystems)
        return enumeration.paths().compactMap { path in
            // The device may have been unplugged since the scan.
            guard let device = UdevDevice(context, at: path), device.isInitialized else { return nil }
            return device.record()
        }
    }
}

/// The context of libudev. It and everything made from it belong to one thread.
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
