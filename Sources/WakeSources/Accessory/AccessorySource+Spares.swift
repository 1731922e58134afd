// Nodes that are left alone: of several nodes of one interface that profiles know, one is opened, the same one in whatever order
// udev tells of them; another takes its place where it goes alone.
import WakeModel
import WakeSystem

/// A node that is not opened, because another one of its interface is.
public struct SpareNode: Hashable, Sendable {
    public var record: UdevRecord
    /// Whose it is too.
    public var uri: String
}

extension AccessorySource {
    /// Sorted by their places in /sys.
    public var spareNodes: [SpareNode] {
        spares.compactMap { path, uri in attached[path].map { SpareNode(record: $0, uri: uri) } }
            .sorted { $0.record.path < $1.record.path }
    }

    /// Whose node it is, if it is left alone.
    public func owner(ofSpare place: String) -> String? { spares[place] }

    /// Makes room for the node at `record` if it comes before the one that stands for `uri`; false where it is left alone.
    func makeRoom(for record: UdevRecord, as uri: String, displaces: Bool) -> Bool {
        guard let holder = places.place(of: uri) else { return true }
        guard displaces, record.path.comesNaturally(before: holder) else {
            leaveAlone(record, uri, for: attached[holder])
            return false
        }
        undoPlug(of: uri, at: holder)
        if let other = attached[holder] { leaveAlone(other, uri, for: record) }
        return true
    }

    private func leaveAlone(_ record: UdevRecord, _ uri: String, for holder: UdevRecord?) {
        guard spares.updateValue(uri, forKey: record.path) == nil else { return }
        log.notice(
            "\(record.name) belongs to \(label(of: uri)) too, and is left alone: of one interface's nodes \(holder?.name ?? "one") "
                + "is opened; have a profile's 'match' name what tells them apart")
    }

    /// Whichever node came first, handlers hear the same: what nobody was told of was never plugged in.
    private func undoPlug(of uri: String, at holder: String) {
        guard let machine = watched[uri]?.beforePlug else { return release(uri, at: holder) }
        places.remove(at: holder)
        close(uri)
        watched[uri]?.machine = machine
        step(uri, .session(host?.session(of: uri) ?? .open))
    }

    /// Mostly the whole device is being unplugged, and its other nodes are about to go.
    func expectSpare(for uri: String) {
        guard spareTimer?.armedAt == nil, spares.values.contains(uri) else { return }
        spareTimer?.arm(at: clock().moment.monotonic + .milliseconds(500))
    }

    /// Their time has come: the nodes that they were left alone for are gone.
    func takeUpSpares() {
        let free = spares.filter { places.place(of: $0.value) == nil }.keys
        changingRegistry {
            for path in free.sorted(by: { $0.comesNaturally(before: $1) }) {
                spares[path] = nil
                if let record = attached[path] { noteAttached(record) }
            }
        }
    }
}

extension UdevRecord {
    /// Its node, or its place in /sys where it has none.
    var name: String { node ?? path }
}

extension String {
    /// Letter by letter, but numbers by their value: input9 before input10, as the kernel counts what it makes.
    func comesNaturally(before other: String) -> Bool {
        var (left, right) = (utf8[...], other.utf8[...])
        while let one = left.first, let two = right.first {
            let (mine, others) = (left.prefix(while: \.isDigit), right.prefix(while: \.isDigit))
            if !mine.isEmpty, !others.isEmpty {
                let (a, b) = (mine.drop { $0 == UInt8(ascii: "0") }, others.drop { $0 == UInt8(ascii: "0") })
                if a.count != b.count { return a.count < b.count }
                if !a.elementsEqual(b) { return a.lexicographicallyPrecedes(b) }
                (left, right) = (left[mine.endIndex...], right[others.endIndex...])
            } else if one == two {
                left.removeFirst()
                right.removeFirst()
            } else {
                return one < two
            }
        }
        return left.isEmpty && !right.isEmpty
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
