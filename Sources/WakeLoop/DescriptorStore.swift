// Descriptors that the service manager keeps over a restart of this service (FileDescriptorStoreMax=); without one nothing is kept.
import CSystemd
import Glibc
import WakeSystem

public enum DescriptorStore {
    /// Has a copy kept until it is removed, or the service is stopped for good.
    /// - Parameter name: printable, without `:`, at most 255 bytes.
    public static func keep(_ descriptor: Int32, named name: String) {
        guard ServiceState.isHeard else { return }
        // It is kept although its peer has closed it: earlier bytes are still to be read.
        var copies = [descriptor]
        _ = sd_pid_notify_with_fds(0, 0, "FDSTORE=1\nFDPOLL=0\nFDNAME=\(name)", &copies, 1)
    }

    /// Makes the service manager close the copies of that name. The returned descriptor hangs up once that is done; nil
    /// if no manager listens.
    public static func remove(_ name: String) -> FileDescriptor? {
        guard ServiceState.isHeard, sd_notify(0, "FDSTOREREMOVE=1\nFDNAME=\(name)") > 0 else { return nil }
        return ServiceState.barrier()
    }

    /// The descriptors kept of an earlier start, in the order in which they came. Call it once: the caller owns them.
    public static func claimAll() -> [(name: String, descriptor: Int32)] {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = sd_listen_fds_with_names(1, &names)
        guard count > 0, let names else { return [] }
        defer { free(names) }
        return (0..<Int(count)).map { place in
            defer { free(names[place]) }
            return (names[place].map { String(cString: $0) } ?? "", SD_LISTEN_FDS_START + Int32(place))
        }
    }
}
