// What changed between two looks at `handlers.d`: pure, so that whoever reads the folder decides when to look.

/// The files of one look, by file name, with their bytes.
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

    /// Takes the files whose names end in `.json5`; hidden ones and what editors leave beside are passed over.
    public init(files: [String: [UInt8]]) {
        for (name, text) in files {
            if let id = HandlerManifest.identifier(ofFile: name) { manifests[id] = text }
        }
    }

    /// What it takes to come from this look to `newer`. A file that was only touched is no change.
    public func changes(to newer: ConfigurationFolder) -> Changes {
        var changes = Changes()
        for (id, text) in newer.manifests {
            guard let old = manifests[id] else {
                changes.added.append(id)
                continue
            }
            if old != text { changes.changed.append(id) }
        }
        changes.removed = manifests.keys.filter { newer.manifests[$0] == nil }.sorted()
        changes.added.sort()
        changes.changed.sort()
        return changes
    }
}
