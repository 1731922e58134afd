// Maps attached devices to URIs, over restarts: by their serial numbers, or by their ports where these distinguish
// them. It never guesses: where several devices fit, an operator decides.
import WakeModel

/// Devices of the same kind and serial number, or without one, are twins. Among them:
/// - a device on the port where one of them was seen last is that one;
/// - a device where one was seen earlier is that one, unless that one is here already;
/// - elsewhere, the only one known is the same on its new port, if no twin of it is attached;
/// - elsewhere, it is a new one if all that are known are attached or on ports of their own;
/// - in every other case it could be one of those that are absent, or a new one: ambiguous. So it is when a twin appears on
///   the port that the only one known seems to have left: perhaps it never moved, and the other one only came first.
///
/// So a serial number is trusted until two have been attached with it. The order of power-on plays no part as long as
/// attached devices without a URI are listed as `waiting`.
public struct AccessoryRegistry: Hashable, Sendable {
    public enum Resolution: Hashable, Sendable {
        case known(String)
        /// Seen for the first time; the registry has entered it.
        case new(String)
        /// It could be one of these, or another one. The registry enters none until `bind` or `addNew` chooses.
        case ambiguous([String])
    }

    struct Entry: Hashable {
        var vendor: String
        var product: String
        var serial: String?
        var interface: String?
        /// Oldest first; the last is its present or latest port. Each port belongs to one of several twins.
        var ports: [String]
        /// It was taken for the same on its last port because no twin was known, and for no better reason.
        var hasMoved: Bool
        var name: String?
    }

    /// By URI.
    private(set) var entries: [String: Entry] = [:]
    /// URIs that only their ports distinguish.
    private var kinds: [AccessoryKind: Set<String>] = [:]
    /// Counts changes that are worth a write.
    private(set) var changes = 0
    /// In which order they were seen last. Not worth a write of its own, so that two registries are equal without it.
    private(set) var seen: [String: UInt64] = [:]
    private var sightings: UInt64 = 0

    /// Ports that are remembered of one accessory, at most; the oldest are forgotten.
    static let mostPorts = 8
    /// Devices without a name that are away, at most: a device that makes serial numbers up must not fill the
    /// state directory.
    static let mostAbsent = 1_000

    public init() {}

    public static func == (left: AccessoryRegistry, right: AccessoryRegistry) -> Bool { left.entries == right.entries }
    public func hash(into hasher: inout Hasher) { hasher.combine(entries) }

    public var uris: [String] { entries.keys.sorted() }

    /// The identity of a URI, with the port where it was seen last.
    public func identity(of uri: String) -> AccessoryIdentity? { entries[uri].map(\.identity) }

    // MARK: Resolving

    /// - Parameters:
    ///   - attached: the URIs of all devices that are attached and resolved, this one's other nodes included. A URI
    ///     that is returned as known though it is attached is another node of the same interface.
    ///   - waiting: the identities of other devices that are attached and not resolved.
    public mutating func resolve(
        _ identity: AccessoryIdentity, attached: Set<String>, waiting: [AccessoryIdentity] = []
    ) -> Resolution {
        let resolution = look(at: identity, attached: attached, waiting: waiting)
        switch resolution {
        case .known(let uri):
            see(uri, on: identity.port)
            touch(uri)
        case .new(let uri): enter(identity, as: uri)
        case .ambiguous: break
        }
        return resolution
    }

    /// The same without entering anything.
    public func look(
        at identity: AccessoryIdentity, attached: Set<String>, waiting: [AccessoryIdentity] = []
    ) -> Resolution {
        let twins = self.twins(of: identity)
        let others = Set(waiting.filter { $0.isTwin(of: identity) }.map(\.port)).subtracting([identity.port])
        let owner = twins.first { entries[$0]?.ports.contains(identity.port) == true }
        if let owner, let claim = claim(of: owner, to: identity.port, attached, others) { return claim }
        let absent = twins.filter { uri in
            !attached.contains(uri) && entries[uri]?.ports.contains(where: others.contains) != true
        }
        guard !absent.isEmpty else { return .new(freshSource(for: identity)) }
        let strangers = others.filter { port in !twins.contains { entries[$0]?.ports.contains(port) == true } }
        return twins.count == 1 && strangers.isEmpty ? .known(absent[0]) : .ambiguous(absent)
    }

    /// The device on a port of `owner`: known, ambiguous, or nil if the owner is elsewhere.
    private func claim(
        of owner: String, to port: String, _ attached: Set<String>, _ others: Set<String>
    ) -> Resolution? {
        guard let entry = entries[owner], let last = entry.ports.last, last != port else { return .known(owner) }
        if attached.contains(owner) || others.contains(last) { return entry.hasMoved ? .ambiguous([owner]) : nil }
        return entry.ports.contains(where: others.contains) ? .ambiguous([owner]) : .known(owner)
    }

    private func twins(of identity: AccessoryIdentity) -> [String] { kinds[identity.kind]?.sorted() ?? [] }

    private func freshSource(for identity: AccessoryIdentity) -> String {
        for uri in [identity.uri, identity.sourceWithPort] where entries[uri] == nil { return uri }
        var number = 2
        while entries["\(identity.sourceWithPort)~\(number)"] != nil { number += 1 }
        return "\(identity.sourceWithPort)~\(number)"
    }

    private mutating func see(_ uri: String, on port: String) {
        guard let ports = entries[uri]?.ports, ports.last != port else { return }
        change(uri) {
            $0.hasMoved = !ports.contains(port)
            $0.ports = (ports.filter { $0 != port } + [port]).suffix(Self.mostPorts)
        }
    }

    /// Its port belongs to no other device from here on.
    private mutating func enter(_ identity: AccessoryIdentity, as uri: String) {
        for twin in twins(of: identity) { change(twin) { $0.ports.removeAll { $0 == identity.port } } }
        set(Entry(identity), for: uri)
    }

    // MARK: Entries

    mutating func set(_ entry: Entry?, for uri: String) {
        if let old = entries[uri]?.identity.kind {
            kinds[old]?.remove(uri)
            if kinds[old]?.isEmpty == true { kinds[old] = nil }
        }
        entries[uri] = entry
        changes += 1
        if let entry { kinds[entry.identity.kind, default: []].insert(uri) } else { seen[uri] = nil }
        touch(uri)
    }

    /// The body must not change the fields that make its kind.
    private mutating func change(_ uri: String, _ body: (inout Entry) -> Void) {
        guard var entry = entries[uri] else { return }
        body(&entry)
        guard entry != entries[uri] else { return }
        entries[uri] = entry
        changes += 1
    }

    // MARK: Sightings

    /// It is there, or was until now.
    public mutating func touch(_ uri: String) {
        guard entries[uri] != nil else { return }
        sightings += 1
        seen[uri] = sightings
    }

    /// Forgets who was away for longest, as far as there are too many; returns those.
    public mutating func trim(attached: Set<String>) -> [String] {
        guard entries.count > Self.mostAbsent else { return [] }
        let absent = entries.filter { $0.value.name == nil && !attached.contains($0.key) }.keys
        guard absent.count > Self.mostAbsent else { return [] }
        let gone = absent.map { (seen[$0] ?? 0, $0) }.sorted(by: <).prefix(absent.count - Self.mostAbsent).map(\.1)
        for uri in gone { forget(uri) }
        return gone
    }

    // MARK: Decisions of an operator

    /// The device is this URI, whatever was known of either: a replacement with another serial number takes the place of
    /// the old device, under its name. The device that was taken for the URI must be resolved again.
    ///
    /// Returns the URI that no device has any more: the one that the device had until now. A twin keeps its URI if it
    /// has a name, or if `attached` has `uri`: the twins are then on each other's ports.
    @discardableResult
    public mutating func bind(
        _ identity: AccessoryIdentity, to uri: String, attached: Set<String> = []
    ) -> String? {
        let old = twins(of: identity).first { $0 != uri && entries[$0]?.ports.last == identity.port }
        let isTwin = entries[uri]?.identity.isTwin(of: identity) ?? false
        let name = entries[uri]?.name
        enter(identity, as: uri)
        setName(name, of: uri)
        guard let old else { return nil }
        if isTwin, attached.contains(uri) || entries[old]?.name != nil { return nil }
        forget(old)
        return old
    }

    /// The device is none of those known; returns its URI.
    public mutating func addNew(_ identity: AccessoryIdentity) -> String {
        let uri = freshSource(for: identity)
        enter(identity, as: uri)
        return uri
    }

    /// False where it was not known.
    @discardableResult
    public mutating func forget(_ uri: String) -> Bool {
        guard entries[uri] != nil else { return false }
        set(nil, for: uri)
        return true
    }

    /// The name that an operator gave it.
    public func name(of uri: String) -> String? { entries[uri]?.name }

    /// Nil takes the name away. False where the URI is not known.
    @discardableResult
    public mutating func setName(_ name: String?, of uri: String) -> Bool {
        guard entries[uri] != nil else { return false }
        change(uri) { $0.name = name }
        return true
    }
}

extension AccessoryRegistry.Entry {
    init(_ identity: AccessoryIdentity) {
        self.init(
            vendor: identity.vendor, product: identity.product, serial: identity.serial, interface: identity.interface,
            ports: [identity.port], hasMoved: false, name: nil)
    }

    var identity: AccessoryIdentity {
        AccessoryIdentity(
            vendor: vendor, product: product, serial: serial, interface: interface, port: ports.last ?? "")
    }
}

// MARK: As text: one line of JSON a URI, which people can read and edit

extension AccessoryRegistry {
    /// The latest seen come last.
    public var lines: [String] {
        entries.map { (seen[$0.key] ?? 0, $0.key, $0.value) }.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map {
            _, uri, entry in
            var writer = JSONWriter()
            writer.beginObject()
            writer.field("source", uri)
            writer.field("vendor", entry.vendor)
            writer.field("product", entry.product)
            if let serial = entry.serial { writer.field("serial", serial) }
            if let interface = entry.interface { writer.field("interface", interface) }
            writer.key("ports" as StaticString)
            writer.beginArray()
            for port in entry.ports { writer.string(port) }
            writer.endArray()
            if entry.hasMoved { writer.field("moved", true) }
            if let name = entry.name { writer.field("name", name) }
            writer.endObject()
            return String(decoding: writer.bytes, as: UTF8.self)
        }
    }

    /// Adds the entry of a line of ``lines``. Returns why the line cannot be read, or nil.
    public mutating func add(line: ArraySlice<UInt8>) -> String? {
        do throws(Unreadable) {
            try parse(line)
            return nil
        } catch {
            return error.reason
        }
    }

    private struct Unreadable: Error { var reason: String }

    private mutating func parse(_ line: ArraySlice<UInt8>) throws(Unreadable) {
        let value: JSONValue
        do throws(JSONValue.Fault) { value = try JSONValue(parsing: line) } catch {
            throw Unreadable(reason: error.description)
        }
        guard let uri = value["source"]?.string, uri.hasPrefix("/accessory/") else {
            throw Unreadable(reason: "it has no source that begins with /accessory/")
        }
        guard entries[uri] == nil else { throw Unreadable(reason: "an earlier line tells of \(uri) already") }
        guard let vendor = value["vendor"]?.string, let product = value["product"]?.string,
            let ports = value["ports"]?.array?.map(\.string), !ports.contains(nil)
        else { throw Unreadable(reason: "\(uri) needs vendor, product and ports") }
        let entry = Entry(
            vendor: vendor, product: product, serial: value["serial"]?.string, interface: value["interface"]?.string,
            ports: ports.compactMap(\.self).suffix(Self.mostPorts), hasMoved: value["moved"]?.boolean ?? false,
            name: value["name"]?.string)
        set(entry, for: uri)
    }
}
