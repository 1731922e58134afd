// The devices that are attached now, by udev's messages and by enumerations that correct them.
import WakeSystem

/// Takes messages in any order and of any kind, and returns changes in order: a device is attached, changes, and is
/// detached. A device has one path while it is attached. So a path that has another device now was detached between.
///
/// After an overflow of the monitor: `discard()`, enumerate at once or later, `reconcile`. Later messages of udev are
/// not lost, or there is another overflow. So if an older message still comes after `reconcile`, the newer ones follow.
public struct AttachedDevices: Sendable {
    public enum Change: Hashable, Sendable {
        /// `synthesized` if no message reported it.
        case attached(UdevRecord, synthesized: Bool)
        case detached(String, synthesized: Bool)
        /// Another node, or other properties.
        case changed(UdevRecord)
        /// The same device has another path: a Bluetooth line when it is opened and closed.
        case moved(from: String, UdevRecord)

        var isArrival: Bool { if case .attached = self { true } else { false } }
        var isDeparture: Bool { if case .detached = self { true } else { false } }
    }

    private var devices: [String: UdevRecord] = [:]
    /// The last message of each path that is attached, and of those that went not long ago.
    private var sequences: [String: UInt64] = [:]
    private var gone: [String: UInt64] = [:]

    /// Paths with counters in them never come again, so not all can be remembered.
    static let mostGone = 1_024

    public init() {}

    public subscript(path: String) -> UdevRecord? { devices[path] }
    /// Sorted by path.
    public var records: [UdevRecord] { devices.values.sorted { $0.path < $1.path } }

    // MARK: Messages

    public mutating func apply(_ record: UdevRecord) -> [Change] {
        guard !isOld(record) else { return [] }
        let changes: [Change]
        switch record.action {
        case .remove: changes = remove(record)
        // The rules have run for whatever is announced, so a device of which the first message was lost is there too.
        case .found, .add, .bind, .unbind, .change: changes = see(record, synthesized: false)
        }
        recordSequence(of: record)
        return changes
    }

    /// Reported already, or overtaken by a later message.
    private func isOld(_ record: UdevRecord) -> Bool {
        guard record.sequence > 0 else { return false }
        return record.sequence <= max(sequences[record.path] ?? 0, gone[record.path] ?? 0)
    }

    private mutating func recordSequence(of record: UdevRecord) {
        guard record.sequence > 0 else { return }
        if devices[record.path] == nil {
            bury(record.path, record.sequence)
        } else {
            sequences[record.path] = record.sequence
        }
    }

    private mutating func bury(_ path: String, _ sequence: UInt64) {
        sequences[path] = nil
        guard sequence > 0 else { return }
        gone[path] = sequence
        guard gone.count > Self.mostGone else { return }
        // Half at once, so that it costs little each time.
        let median = gone.values.sorted()[gone.count / 2]
        gone = gone.filter { $0.value >= median }
    }

    private mutating func remove(_ record: UdevRecord) -> [Change] {
        // An enumeration knows its successor on the same path already.
        guard let known = devices[record.path], Succession(of: known, by: record) != .predecessor else { return [] }
        devices[record.path] = nil
        return [.detached(record.path, synthesized: false)]
    }

    private mutating func see(_ record: UdevRecord, synthesized: Bool) -> [Change] {
        if let change = move(record) { return [change] }
        guard let known = devices[record.path] else {
            devices[record.path] = record
            return [.attached(record, synthesized: synthesized)]
        }
        switch Succession(of: known, by: record) {
        case .predecessor: return []
        case .same:
            devices[record.path] = record
            return known.tells(sameAs: record) ? [] : [.changed(record)]
        case .successor:
            devices[record.path] = record
            return [.detached(record.path, synthesized: true), .attached(record, synthesized: synthesized)]
        }
    }

    private mutating func move(_ record: UdevRecord) -> Change? {
        guard record.action == .change, let old = record.properties["DEVPATH_OLD"].map({ "/sys\($0)" }),
            old != record.path, devices[old] != nil, devices[record.path] == nil
        else { return nil }
        devices[old] = nil
        bury(old, max(sequences[old] ?? 0, record.sequence))
        devices[record.path] = record
        return .moved(from: old, record)
    }

    // MARK: Enumerations

    /// Makes the known devices equal to the found ones; all changes are synthesized.
    public mutating func reconcile(with snapshot: [UdevRecord]) -> [Change] {
        let found = Set(snapshot.map(\.path))
        var changes: [Change] = []
        for path in devices.keys.sorted() where !found.contains(path) {
            devices[path] = nil
            bury(path, sequences[path] ?? 0)
            changes.append(.detached(path, synthesized: true))
        }
        for record in snapshot { changes += see(record, synthesized: true) }
        // A device that is attached again continues from its last message, or an older one of its predecessor would end
        // it.
        for path in found {
            if let last = gone.removeValue(forKey: path) { sequences[path] = last }
        }
        return changes
    }
}

/// Whether two records of one path are of one device.
private enum Succession {
    case same
    /// The later record is of a device that was there before.
    case predecessor
    case successor

    init(of known: UdevRecord, by record: UdevRecord) {
        if let old = known.birth, let new = record.birth {
            self = old == new ? .same : new < old ? .predecessor : .successor
        } else {
            // If udev does not report when it first saw a device, the device's numbers decide.
            let differs = ["MAJOR", "MINOR", "BUSNUM", "DEVNUM"].contains { key in
                guard let old = known.properties[key], let new = record.properties[key] else { return false }
                return old != new
            }
            self = differs ? .successor : .same
        }
    }
}

extension UdevRecord {
    /// When udev first saw the device, in microseconds since the machine started; it stays with the device.
    fileprivate var birth: UInt64? { properties["USEC_INITIALIZED"].flatMap { UInt64($0) } }

    /// Lists without a stable order, and properties that only a message has.
    private static let told: Set<String> = ["TAGS", "CURRENT_TAGS", "DEVLINKS", "DEVPATH_OLD", "USEC_INITIALIZED"]

    fileprivate func tells(sameAs other: UdevRecord) -> Bool {
        guard node == other.node else { return false }
        if properties == other.properties { return true }
        return properties.filter { !Self.told.contains($0.key) }
            == other.properties.filter { !Self.told.contains($0.key) }
    }
}
