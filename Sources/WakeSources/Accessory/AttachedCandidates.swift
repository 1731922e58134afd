// The attached devices that profiles match: identity, match, and the place and URI of each.
import WakeSystem

/// The attached devices that a profile knows, by their places in /sys. Their identities and matches are looked up once.
struct AttachedCandidates {
    struct Candidate: Hashable {
        var identity: AccessoryIdentity
        var match: AccessoryMatch
    }

    private var candidates: [String: Candidate] = [:]
    /// The places of those that only their ports distinguish.
    private var kinds: [AccessoryKind: Set<String>] = [:]
    var newcomers = NewcomerLimit()

    subscript(path: String) -> Candidate? { candidates[path] }

    mutating func set(_ candidate: Candidate?, at path: String) {
        if let old = candidates[path]?.identity.kind {
            kinds[old]?.remove(path)
            if kinds[old]?.isEmpty == true { kinds[old] = nil }
        }
        candidates[path] = candidate
        if let candidate { kinds[candidate.identity.kind, default: []].insert(path) }
    }

    /// The twins of the device at `path` that are elsewhere and have no URI yet.
    func waitingTwins(of path: String, _ places: AccessoryPlaces) -> [AccessoryIdentity] {
        guard let kind = candidates[path]?.identity.kind, let twins = kinds[kind] else { return [] }
        return twins.filter { $0 != path && places[$0] == nil }.compactMap { candidates[$0]?.identity }
    }
}

/// The URI at each place: a URI has one place at most.
struct AccessoryPlaces {
    private var byPath: [String: String] = [:]
    private var bySource: [String: String] = [:]
    /// The URIs of all attached devices.
    private(set) var uris: Set<String> = []

    subscript(path: String) -> String? { byPath[path] }
    func place(of uri: String) -> String? { bySource[uri] }

    mutating func put(_ uri: String, at path: String) {
        byPath[path] = uri
        bySource[uri] = path
        uris.insert(uri)
    }

    /// Nil if no device was there.
    @discardableResult
    mutating func remove(at path: String) -> String? {
        guard let uri = byPath.removeValue(forKey: path) else { return nil }
        bySource[uri] = nil
        uris.remove(uri)
        return uri
    }
}
