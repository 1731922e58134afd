// What every event of a device asks, in as little memory as it fits: with ten thousand devices nearly each is found cold there.
import WakeModel
import WakeProfiles
import WakeSystem

/// An object for each device, or two, would each be one more place to be fetched for every event.
struct LineTemplateTable {
    /// What a line of data is made with.
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

    /// Where in `heads` a device's begins and ends, where in it the alias stands, its profileTemplate, and when it spoke last, which is
    /// noted just before the rest is asked for.
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

    /// What lines of that type are made with; the member that names the profile is made once for all its devices.
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

    /// A device that is renamed: what stands behind its text moves up.
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

    /// When the device last spoke.
    func lastData(of index: Int) -> WallTime? {
        guard index < entries.count, entries[index].lastData > .min else { return nil }
        return WallTime(microseconds: entries[index].lastData)
    }
}
