// The sockets that the service manager keeps while the daemon restarts, each under a name that says whose it is and where it leads.
import WakeAgenda
import WakeLoop
import WakeModel
import WakeSystem

/// Those of an earlier start, until their handlers ask for them.
final class StoredSockets {
    /// Numbers, which this owns.
    private var found: [String: Int32] = [:]
    private static let prefix = "socket/"

    init() {
        for (name, descriptor) in DescriptorStore.claimAll() {
            guard name.hasPrefix(Self.prefix), found[name] == nil else {
                _ = FileDescriptor(owning: descriptor)
                continue
            }
            found[name] = descriptor
        }
    }

    deinit { for descriptor in found.values { _ = FileDescriptor(owning: descriptor) } }

    func keep(_ socket: HeldSocket, of handler: String) {
        // The keys of TLS end with the handler, and the handler with the daemon.
        if !socket.rule.isTLS { DescriptorStore.keep(socket.raw, named: Self.name(socket.rule, of: handler)) }
    }

    func remove(_ rule: SocketRule, of handler: String) {
        if !rule.isTLS { DescriptorStore.remove(Self.name(rule, of: handler)) }
    }

    /// Nil where it was not kept, or led elsewhere.
    func claim(_ rule: SocketRule, _ number: Int32, of handler: String) -> HeldSocket? {
        guard let descriptor = found.removeValue(forKey: Self.name(rule, of: handler)) else { return nil }
        return HeldSocket(FileDescriptor(owning: descriptor), rule, number)
    }

    /// Lets go of those that no manifest declares any more.
    func removeAll(but declared: Set<String>) {
        for (name, descriptor) in found where !declared.contains(name) {
            found[name] = nil
            NetworkSocket.end(descriptor)
            _ = FileDescriptor(owning: descriptor)
            DescriptorStore.remove(name)
        }
    }

    static func name(_ rule: SocketRule, of handler: String) -> String {
        var address = FNV1a()
        address.add(rule.address.utf8)
        return "\(prefix)\(handler)/\(rule.name)/\(String(address.value, radix: 16))"
    }
}
