// The tool's view of udev: the attached accessories, and changes since the last call.
import WakeArguments
import WakeDaemon
import WakeEngine
import WakeLoop
import WakeModel
import WakeProfiles
import WakeSources
import WakeSystem

/// An attached node, with the profile that matches it.
struct AttachedRow: Hashable {
    var record: UdevRecord
    var profile: String?
    /// False for one that was just unplugged.
    var isAttached = true
}

final class AccessoryScan {
    /// Something came, changed or went since this was set to false.
    var hasNews = true
    private let profiles: ProfileLibrary
    private var feed: UdevFeed?
    private var attached = AttachedDevices()
    /// The rows reported last, by their paths in /sys.
    private var told: [String: AttachedRow] = [:]

    /// Already attached nodes are known when this returns.
    init(on loop: EventLoop, _ profiles: ProfileLibrary) throws(Complaint) {
        self.profiles = profiles
        do throws(SystemError) {
            feed = try UdevFeed(on: loop, hearing: UdevRecord.accessorySubsystems) { [unowned self] in apply($0) }
        } catch {
            throw .failure("\(error.description); try again, or look at Bluetooth only with --adapter")
        }
    }

    /// Sorted by their paths in /sys, so that the nodes of one device come together.
    var rows: [AttachedRow] {
        attached.records.map { AttachedRow(record: $0, profile: profiles.profile(of: $0)?.name) }
    }

    /// The rows that are new, changed or gone since the last call.
    func removeChanges() -> [AttachedRow] {
        let now = Dictionary(uniqueKeysWithValues: rows.map { ($0.record.path, $0) })
        let gone = told.values.filter { now[$0.record.path] == nil }
            .map { AttachedRow(record: $0.record, profile: $0.profile, isAttached: false) }
        let news = now.values.filter { !$0.looks(like: told[$0.record.path]) }
        told = now
        return (gone + news).sorted { $0.record.path < $1.record.path }
    }

    private func apply(_ event: UdevFeed.Event) {
        let changes =
            switch event {
            case .record(let record): attached.apply(record)
            case .snapshot(let records, _): attached.reconcile(with: records)
            }
        if !changes.isEmpty { hasNews = true }
    }
}

extension AttachedRow {
    /// Whether nothing visible has changed; udev announces the same several times.
    fileprivate func looks(like other: AttachedRow?) -> Bool {
        guard let other else { return false }
        return profile == other.profile && record.node == other.record.node && properties == other.properties
    }

    /// The properties that a profile may match: those of the device, not of this machine.
    var properties: [String: String] {
        record.properties.filter { name, _ in
            let isWhatItIs =
                ["ID_", "HID_", "POWER_SUPPLY_"].contains { name.hasPrefix($0) }
                || ["SUBSYSTEM", "DEVTYPE", "NAME", "PHYS", "UNIQ"].contains(name)
            return isWhatItIs && !name.hasSuffix("_ENC") && !name.hasSuffix("_FROM_DATABASE")
        }
    }

    var label: String {
        let names = ["ID_MODEL", "NAME", "HID_NAME", "POWER_SUPPLY_NAME"].compactMap { record.properties[$0] }
        let name = names.first?.unquoted ?? ""
        return name.isEmpty ? String(record.path.split(separator: "/").last ?? "") : name
    }

    /// Its node, or its path in /sys where it has none.
    var place: String { record.node ?? record.path }
}

/// Attached accessories as output: the columns of peripherals, and JSON with the properties for a profile's `match`.
enum AccessoryText {
    static func cells(_ row: AttachedRow) -> [String] {
        [
            row.label.oneCell, row.place.oneCell, "-", row.profile?.oneCell ?? "-",
            row.isAttached ? "attached" : "detached",
        ]
    }

    static func line(_ row: AttachedRow) -> String { cells(row).joined(separator: "  ") + "\n" }

    static func json(_ row: AttachedRow) -> [UInt8] {
        JSONWriter.line { writer in
            writer.field("name", row.label)
            writer.field("address", row.place)
            writer.field("node", row.record.node)
            writer.field("profile", row.profile)
            writer.field("state", row.isAttached ? "attached" : "detached")
            writer.field("subsystem", row.record.subsystem)
            writer.objects("properties", row.properties.sorted { $0.key < $1.key }) { writer, property in
                writer.field("name", property.key)
                writer.field("value", property.value)
            }
        }
    }
}
