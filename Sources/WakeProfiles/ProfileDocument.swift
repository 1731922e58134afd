// Reads `Devices/<name>/profile.json5`; the two example folders under `Devices` explain every key.
import WakeModel

enum ProfileDocument {
    static let peripheralKeys = ["notify", "read", "characteristics", "advertisement"]
    static let keys = ["name", "title", "mode", "match"] + peripheralKeys + ["streams"] + accessoryKeys
    static let matchKeys = ["services", "name_prefix", "properties"]
    static let channelKeys = ["name", "fields"]
    static let streamKeys = channelKeys + ["check"]
    static let advertisementKeys = ["service_data", "manufacturer_data"]

    /// Throws every fault of the file, each with its place.
    static func read(_ text: [UInt8], folder: String, file: String) throws(ConfigurationErrors) -> Profile {
        let report = ConfigurationReport(file: file)
        let profile = profile(text, folder: folder, report: report)
        try report.conclude()
        guard let profile else {
            throw ConfigurationErrors([ConfigurationError(file: file, sentence: "the profile cannot be read")])
        }
        return profile
    }

    private static func profile(_ text: [UInt8], folder: String, report: ConfigurationReport) -> Profile? {
        guard
            let object = ConfigurationObject(
                document: text, keys: keys, required: ["name", "title", "mode", "match"], report: report)
        else { return nil }
        let name = object.text("name")
        if let name, name != folder { object.refuse("name", expected: "\"\(folder)\", the name of its folder") }
        let title = object.text("title")
        guard let kind = object.word("mode", as: SourceKind.self) else { return nil }
        let match = match(object, kind: kind)
        refuseMisplaced(in: object, kind: kind)
        let notify = uuids("notify", of: object)
        let read = uuids("read", of: object)
        let channels = channels(of: object, kind: kind)
        let advertisement = advertisement(of: object)
        let accessory = kind == .externalAccessory ? accessory(of: object) : nil
        guard let name, let title, let match else { return nil }
        return Profile(
            name: name, title: title, kind: kind, match: match, notify: notify, readAtConnect: read,
            accessory: accessory, channelNames: channels.names, programs: channels.programs,
            advertisement: advertisement)
    }

    /// Keys of the other mode. For channels the sentence names the key to write instead.
    private static func refuseMisplaced(in object: ConfigurationObject, kind: SourceKind) {
        let misplaced =
            (kind == .externalAccessory ? [] : accessoryKeys)
            + (kind == .bluetoothCentral ? [] : peripheralKeys.filter { $0 != "characteristics" })
        for key in misplaced where object.has(key) {
            object.report.add("\(key) does not fit mode \"\(kind.rawValue)\"; remove it or change the mode")
        }
    }

    /// Bluetooth reports other properties of a device than udev does.
    private static func refuseMisplaced(in match: ConfigurationObject, of object: ConfigurationObject, kind: SourceKind)
    {
        let isRadio = kind == .bluetoothCentral || isCalled(object)
        let place = isCalled(object) ? "node \"rfcomm\"" : "mode \"\(kind.rawValue)\""
        let advice = isCalled(object) ? "match by services or name_prefix" : "remove it or change the mode"
        for key in isRadio ? ["properties"] : ["services", "name_prefix"] where match.has(key) {
            match.report.add("\(match.path(of: key)) does not fit \(place); \(advice)")
        }
    }

    private static func match(_ object: ConfigurationObject, kind: SourceKind) -> Profile.Match? {
        guard let found = object.object("match", keys: matchKeys) else { return nil }
        refuseMisplaced(in: found, of: object, kind: kind)
        var match = Profile.Match()
        match.services = uuids("services", of: found)
        match.namePrefix = found.text("name_prefix")
        if let properties = found.object("properties", keys: nil) {
            match.properties = properties.keys.compactMap { name in
                properties.text(name).map { Profile.Match.Property(name: name, value: $0) }
            }
        }
        if found.keys.isEmpty || match.weight == 0 && found.report.errors.isEmpty {
            found.report.add(
                "match asks for nothing and would match every device; name one of \(matchKeys.joined(separator: ", "))")
        }
        return match
    }

    private static func uuids(_ key: String, of object: ConfigurationObject) -> [BluetoothUUID] {
        object.list(key, of: "Bluetooth UUIDs") { value, path in
            if case .string(let text) = value, let uuid = BluetoothUUID(text) { return uuid }
            object.report.add("\(path) is \(value.found), expected a Bluetooth UUID such as \"2a37\"")
            return nil
        } ?? []
    }
}

/// Broadcasts and their field lists.
extension ProfileDocument {
    private static func advertisement(of object: ConfigurationObject) -> AdvertisementProgram {
        var advertisement = AdvertisementProgram()
        guard let found = object.object("advertisement", keys: advertisementKeys) else { return advertisement }
        for key in advertisementKeys {
            guard let list = found.object(key, keys: nil) else { continue }
            for name in list.keys {
                guard let part = part(key, name) else {
                    let example =
                        key == "service_data" ? "a Bluetooth UUID such as \"181a\"" : "a company such as \"0499\""
                    list.report.add("\(list.path) has the key \"\(name)\", expected \(example)")
                    continue
                }
                guard let entry = list.object(name, keys: ["fields"], required: ["fields"]),
                    let program = program(of: entry)
                else { continue }
                advertisement.entries.append(.init(part: part, program: program))
            }
        }
        return advertisement
    }

    /// Companies by their four hexadecimal digits, as the Bluetooth SIG lists them.
    private static func part(_ key: String, _ name: String) -> AdvertisementPart? {
        if key == "service_data" { return BluetoothUUID(name).map { .serviceData($0) } }
        guard let bytes = [UInt8](hexadecimal: name), bytes.count == 2 else { return nil }
        return .manufacturerData(UInt16(bytes[0]) << 8 | UInt16(bytes[1]))
    }
}

/// Channels and their field lists.
extension ProfileDocument {
    private typealias Channels = (names: [Channel: String], programs: [ChannelProgram])

    private static func channels(of object: ConfigurationObject, kind: SourceKind) -> Channels {
        var channels: Channels = ([:], [])
        let (fitting, misplaced) =
            kind == .bluetoothCentral ? ("characteristics", "streams") : ("streams", "characteristics")
        if object.has(misplaced) {
            object.report.add("\(misplaced) does not fit mode \"\(kind.rawValue)\"; write \(fitting)")
        }
        guard let list = object.object(fitting, keys: nil) else { return channels }
        for key in list.keys {
            guard let channel = channel(key, kind: kind) else {
                let example =
                    kind == .bluetoothCentral
                    ? "a Bluetooth UUID such as \"2a37\"" : "\"serial\", \"input\" or \"report-1\""
                list.report.add("\(list.path) has the key \"\(key)\", expected \(example)")
                continue
            }
            guard let entry = entry(key, of: list, kind: kind) else { continue }
            channels.names[channel] = entry.text("name")
            guard let program = channelProgram(channel, entry) else { continue }
            channels.programs.append(program)
        }
        return channels
    }

    /// A stream may have only a name: its bytes are raw then, and the profile still says which node it needs.
    private static func entry(_ key: String, of list: ConfigurationObject, kind: SourceKind) -> ConfigurationObject? {
        kind == .bluetoothCentral
            ? list.object(key, keys: channelKeys, required: channelKeys)
            : list.object(key, keys: streamKeys, required: ["name"])
    }

    private static func channelProgram(_ channel: Channel, _ entry: ConfigurationObject) -> ChannelProgram? {
        let check = entry.word("check", as: MessageCheck.self)
        if channel == .input, entry.has("check") {
            entry.report.add("\(entry.path(of: "check")) does not fit input events, which carry none; remove it")
        }
        if entry.has("fields") {
            return program(of: entry).map { ChannelProgram(channel: channel, check: check, form: .fields, program: $0) }
        }
        if channel == .input { return ChannelProgram(channel: channel, form: .inputEvents) }
        return check.map { ChannelProgram(channel: channel, check: $0, form: .none) }
    }

    private static func program(of entry: ConfigurationObject) -> FieldProgram? {
        guard let fields = entry.objects("fields", keys: FieldDocument.keys, required: ["name", "type"]) else {
            return nil
        }
        if fields.isEmpty, entry.report.errors.isEmpty {
            entry.report.add("\(entry.path(of: "fields")) is empty; leave \(entry.path) out to get raw bytes only")
        }
        return FieldCompiler.compile(fields)
    }

    static func channel(_ key: String, kind: SourceKind) -> Channel? {
        if kind == .bluetoothCentral { return BluetoothUUID(key).map { .characteristic($0) } }
        return Channel(stream: key)
    }
}
