// Stores the text that every event of a device needs, compactly: with ten thousand devices, nearly each is cold in
// cache.
import WakeModel
import WakeProfiles
import WakeSystem

/// An object for each device, or two, would each be one more place to be fetched for every event.
struct LineTemplateTable {
    /// The parts of a line of data.
    struct Template {
        let text: DeviceText
        let decoder: ProfileDecoder?
    }

    /// The same for all devices of one profile, as that read when they came.
    private struct ProfileTemplate {
        let profile: String?
        let member: [UInt8]
        let decoder: ProfileDecoder?
    }

    /// Where a device's text begins and ends in `heads`, where its alias is, its profileTemplate, and its last data's
    /// time. That time is written just before the rest is read.
    private struct Entry {
        var start: Int32 = 0, aliasStart: Int32 = 0, aliasEnd: Int32 = 0, end: Int32 = 0
        /// Negative of a device that is not known.
        var profileTemplate: Int32 = -1
        /// Microseconds of wall time.
        var lastData = Int64.min

        mutating func move(by distance: Int32) {
            start += distance
            aliasStart += distance
            aliasEnd += distance
            end += distance
        }
    }

    private var heads: [UInt8] = []
    private var profileTemplates: [ProfileTemplate] = []
    private var entries: [Entry] = []

    func template(of index: Int) -> Template? {
        guard index < entries.count, entries[index].profileTemplate >= 0 else { return nil }
        let entry = entries[index]
        let profileTemplate = profileTemplates[Int(entry.profileTemplate)]
        let text = DeviceText(
            head: heads[Int(entry.start)..<Int(entry.end)], alias: Int(entry.aliasStart)..<Int(entry.aliasEnd),
            profile: profileTemplate.member)
        return Template(text: text, decoder: profileTemplate.decoder)
    }

    /// The texts of lines of that type; the member that names the profile is made once for all its devices.
    func text(of device: Device, in type: String = DeviceEvent.Kind.dataWireName) -> DeviceText {
        DeviceText(of: device, in: type, member: profileTemplates.first { $0.profile == device.profile }?.member)
    }

    mutating func set(_ device: Device, _ decoder: ProfileDecoder?, at index: Int) {
        while entries.count <= index { entries.append(Entry()) }
        let text = text(of: device)
        let profileTemplate = Int32(place(of: device.profile, text, decoder))
        // As it came last: most devices do.
        if let former = template(of: index), former.text.head.elementsEqual(text.head) {
            entries[index].profileTemplate = profileTemplate
            return
        }
        remove(at: index)
        let start = heads.count
        heads.append(contentsOf: text.head)
        let distance = start - text.head.startIndex
        entries[index] = Entry(
            start: Int32(start), aliasStart: Int32(text.alias.startIndex + distance),
            aliasEnd: Int32(text.alias.endIndex + distance), end: Int32(heads.count), profileTemplate: profileTemplate,
            lastData: entries[index].lastData)
    }

    private mutating func place(of profile: String?, _ text: DeviceText, _ decoder: ProfileDecoder?) -> Int {
        if let known = profileTemplates.firstIndex(where: { $0.decoder === decoder && $0.profile == profile }) {
            return known
        }
        profileTemplates.append(ProfileTemplate(profile: profile, member: text.profile, decoder: decoder))
        return profileTemplates.count - 1
    }

    /// Removes a device that is renamed: the text behind its own moves up.
    private mutating func remove(at index: Int) {
        let former = entries[index]
        guard former.profileTemplate >= 0 else { return }
        heads.removeSubrange(Int(former.start)..<Int(former.end))
        for other in entries.indices where entries[other].start > former.start {
            entries[other].move(by: former.start - former.end)
        }
    }

    /// Asks for what is known of all these devices before any of it is needed: with ten thousand of them nearly each is cold.
    func fetch(_ indices: some Collection<Int>) {
        for index in indices where index < entries.count { Cache.fetch(index, of: entries) }
        for index in indices where index < entries.count {
            Cache.fetch(Int(entries[index].start)..<Int(entries[index].end), of: heads)
        }
    }

    mutating func recordData(at time: WallTime, of index: Int) {
        if index < entries.count { entries[index].lastData = time.microseconds }
    }

    /// The time of the device's last data.
    func lastData(of index: Int) -> WallTime? {
        guard index < entries.count, entries[index].lastData > .min else { return nil }
        return WallTime(microseconds: entries[index].lastData)
    }
}
