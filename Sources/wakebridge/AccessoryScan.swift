// One look of the tool at what udev announces: what is attached, and what came and went since it was asked last.
import WakeDaemon
import WakeLoop
import WakeModel
import WakeProfiles
import WakeSources
import WakeSystem
import WakeWords

/// One node of what is attached, with the profile that knows it.
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
    /// As they were told last, by their places in /sys.
    private var told: [String: AttachedRow] = [:]

    /// What is attached already is known when this comes back.
    init(on loop: EventLoop, _ profiles: ProfileLibrary) throws(Complaint) {
        self.profiles = profiles
        do throws(SystemError) {
            feed = try UdevFeed(on: loop, hearing: UdevRecord.accessorySubsystems) { [unowned self] in take($0) }
        } catch {
            throw .failure("\(error.description); try again, or look at Bluetooth only with --adapter")
        }
    }

    /// Sorted by their places in /sys, so that what belongs to one device stands together.
    var rows: [AttachedRow] {
        attached.records.map { AttachedRow(record: $0, profile: profiles.profile(of: $0)?.name) }
    }

    /// Those that are new or changed, and those that are gone, since this was asked last.
    func takeNews() -> [AttachedRow] {
        let now = Dictionary(uniqueKeysWithValues: rows.map { ($0.record.path, $0) })
        let gone = told.values.filter { now[$0.record.path] == nil }
            .map { AttachedRow(record: $0.record, profile: $0.profile, isAttached: false) }
        let news = now.values.filter { !$0.looks(like: told[$0.record.path]) }
        told = now
        return (gone + news).sorted { $0.record.path < $1.record.path }
    }

    private func take(_ event: UdevFeed.Event) {
        let changes =
            switch event {
            case .record(let record): attached.take(record)
            case .snapshot(let records, _): attached.reconcile(with: records)
            }
        if !changes.isEmpty { hasNews = true }
    }
}

extension AttachedRow {
    /// Nothing of it changed that people are shown; udev announces the same several times.
    fileprivate func looks(like other: AttachedRow?) -> Bool {
        guard let other else { return false }
        return profile == other.profile && record.node == other.record.node && properties == other.properties
    }

    /// Those that a profile may ask for: what the device is, not how this machine keeps it.
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

    /// Its node, or its place in /sys where it has none.
    var place: String { record.node ?? record.path }
}

/// Attached accessories beside the peripherals: the same columns, and JSON with what a profile's `match` is written from.
enum AccessoryText {
    static func cells(_ row: AttachedRow) -> [String] {
        [
            row.label.oneCell, row.place.oneCell, "-", row.profile?.oneCell ?? "-",
            row.isAttached ? "attached" : "detached",
        ]
    }

    static func line(_ row: AttachedRow) -> String { cells(row).joined(separator: "  ") + "\n" }

    static func json(_ row: AttachedRow) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("name", row.label)
        writer.field("address", row.place)
        writer.field("node", row.record.node)
        writer.field("profile", row.profile)
        writer.field("state", row.isAttached ? "attached" : "detached")
        writer.field("subsystem", row.record.subsystem)
        writer.key("properties")
        writer.beginArray()
        for property in row.properties.sorted(by: { $0.key < $1.key }) {
            writer.beginObject()
            writer.field("name", property.key)
            writer.field("value", property.value)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        writer.newline()
        return writer.bytes
    }
}
