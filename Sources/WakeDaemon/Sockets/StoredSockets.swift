// The sockets that the service manager keeps while the daemon restarts, each under a name with its owner and its peer.
import WakeAgenda
import WakeEngine
import WakeLoop
import WakeModel
import WakeSystem

/// Sockets of an earlier start, until their handlers ask for them.
final class StoredSockets {
    /// Numbers, which this owns until the process ends.
    private var found: [String: Int32] = [:]
    private let closings: SocketClosings
    private static let prefix = "socket/"

    /// Files of a killed daemon may linger yet.
    init(_ closings: SocketClosings) {
        self.closings = closings
        for (name, raw) in DescriptorStore.claimAll() {
            guard name.hasPrefix(Self.prefix), found[name] == nil else {
                closings.drop(raw, of: name)
                continue
            }
            found[name] = raw
            closings.calls.add(SocketCall(.forgetLinger, raw), of: Self.handler(in: name))
        }
    }

    /// Sockets that nobody has asked for yet.
    var all: [Int32] { Array(found.values) }

    func keep(_ socket: HeldSocket) {
        // The keys of TLS end with the handler, and the handler with the daemon.
        guard !socket.rule.isTLS else { return }
        let name = Self.name(socket.rule, of: socket.owner)
        DescriptorStore.keep(socket.raw, named: name)
        socket.keptAs = name
    }

    /// Nil where it was not kept, or led elsewhere.
    func claim(_ rule: SocketRule, of handler: String) -> (raw: Int32, keptAs: String)? {
        let name = Self.name(rule, of: handler)
        return found.removeValue(forKey: name).map { ($0, name) }
    }

    /// Closes sockets that no manifest declares any more, but for awaited handlers. Instances begin with their devices,
    /// which come later.
    func removeAll(but manifests: [HandlerManifest], isAwaited: (String) -> Bool) {
        for (name, raw) in found
        where !isAwaited(Self.handler(in: name)) && !manifests.contains(where: { Self.declares($0, name) }) {
            found[name] = nil
            closings.end(raw, of: Self.handler(in: name), keptAs: name)
        }
    }

    private static func declares(_ manifest: HandlerManifest, _ name: String) -> Bool {
        manifest.agenda.sockets.contains { rule in
            manifest.isPerDevice
                ? name.hasPrefix("\(prefix)\(manifest.id)\(HandlerInstance.mark)") && name.hasSuffix(place(of: rule))
                : name == Self.name(rule, of: manifest.id)
        }
    }

    /// The shortened name of a handler with a long name.
    private static func handler(in name: String) -> String {
        String(name.dropFirst(prefix.count).prefix { $0 != "/" })
    }

    private static func name(_ rule: SocketRule, of handler: String) -> String {
        "\(prefix)\(short(handler))\(place(of: rule))"
    }

    private static func place(of rule: SocketRule) -> String { "/\(rule.name)/\(check(rule.address))" }

    /// The service manager takes names of at most 255 bytes.
    private static let longestHandler = 150

    private static func short(_ handler: String) -> String {
        guard handler.utf8.count > longestHandler else { return handler }
        return "\(handler.prefix(longestHandler - 17)).\(check(handler))"
    }

    private static func check(_ text: String) -> String {
        var check = FNV1a()
        check.add(text.utf8)
        return String(check.value, radix: 16)
    }
}
