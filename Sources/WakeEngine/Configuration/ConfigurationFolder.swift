// The changes between two readings of `handlers.d`. Pure: the caller reads the folder.

/// The manifests of one reading.
public struct ConfigurationFolder: Hashable, Sendable {
    /// Handler ids, each list in alphabetical order.
    public struct Changes: Hashable, Sendable {
        public var added: [String] = []
        public var changed: [String] = []
        public var removed: [String] = []
        public var isEmpty: Bool { added.isEmpty && changed.isEmpty && removed.isEmpty }
    }

    /// Manifests by handler id.
    public private(set) var manifests: [String: [UInt8]] = [:]

    public init() {}

    /// Keeps the files whose names end in `.json5`. Skips hidden ones and editors' backups.
    public init(files: [String: [UInt8]]) {
        for (name, text) in files {
            if let id = HandlerManifest.identifier(ofFile: name) { manifests[id] = text }
        }
    }

    /// A file with the same bytes is no change.
    public func changes(to newer: ConfigurationFolder) -> Changes {
        var changes = Changes()
        for (id, text) in newer.manifests {
            if let old = manifests[id] {
                if old != text { changes.changed.append(id) }
            } else {
                changes.added.append(id)
            }
        }
        changes.removed = manifests.keys.filter { newer.manifests[$0] == nil }.sorted()
        changes.added.sort()
        changes.changed.sort()
        return changes
    }
}
