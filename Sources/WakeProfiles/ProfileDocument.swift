// Reads `Devices/<name>/profile.json5`; the two example folders under `Devices` explain every key.
import WakeModel

enum ProfileDocument {
    static let peripheralKeys = ["include", "notify", "read", "characteristics", "advertisement"]
    static let keys = ["name", "title", "mode", "match"] + peripheralKeys + ["streams", "ask"] + accessoryKeys
    static let matchKeys = ["services", "name_prefix", "broadcast", "properties", "gives_way"]
    static let broadcastKeys = ["company", "service_data"] + BytePattern.keys
    static let messageKeys = ["name", "check", "derive"] + FieldCompiler.layoutKeys
    static let wedgeKeys = ["layout", "pause"]
    static let streamKeys = messageKeys + wedgeKeys
    static let channelKeys = messageKeys + ["framing"]
    static let advertisementKeys = ["service_data", "manufacturer_data", "merge"]

    /// Throws every fault of the file, each with its place.
    /// - Parameter shared: definitions of characteristics that the profile takes where it lists them and has none.
    static func read(
        _ text: [UInt8], folder: String, file: String, shared: SharedCharacteristics = .none
    ) throws(ConfigurationErrors) -> Profile {
        let report = ConfigurationReport(file: file)
        let profile = profile(text, folder: folder, shared, report: report)
        try report.conclude()
        guard let profile else {
            throw ConfigurationErrors([ConfigurationError(file: file, sentence: "the profile cannot be read")])
        }
        return profile
    }

    private static func profile(
        _ text: [UInt8], folder: String, _ shared: SharedCharacteristics, report: ConfigurationReport
    ) -> Profile? {
        guard
            let object = ConfigurationObject(
                document: text, keys: keys, required: ["name", "title", "mode", "match"], report: report)
        else { return nil }
        guard let head = head(of: object, folder: folder) else { return nil }
        refuseMisplaced(in: object, kind: head.kind)
        var profile = Profile(
            name: head.name, title: head.title, kind: head.kind, match: head.match, notify: uuids("notify", of: object),
            readAtConnect: uuids("read", of: object), accessory: nil, channelNames: [:], programs: [],
            advertisement: advertisement(of: object))
        include(object.words("include", of: "services", as: IncludedService.self) ?? [], in: &profile)
        readChannels(of: object, into: &profile)
        profile.takeShared(shared)
        profile.ask = AskPlan(object, kind: head.kind)
        if head.kind == .externalAccessory { profile.accessory = accessory(of: object) }
        profile.accessory?.ask = profile.ask
        if profile.isTyped { profile.accessory?.typingPause = profile.decoderSettings.pause }
        let trial = profile.trial(of: .serial)
        profile.accessory?.trial = trial
        for index in profile.framings.indices {
            let trial = profile.trial(of: profile.framings[index].channel)
            profile.framings[index].trial = trial
        }
        profile.accessory?.needsReportDescriptor = profile.programs.contains { $0.program.names(.hidPower) }
        return profile
    }

    /// The head that devices are matched against. Nil, and reported, if it cannot be read.
    static func head(of object: ConfigurationObject, folder: String) -> ProfileHead? {
        let name = object.text("name")
        if let name, name != folder { object.refuse("name", expected: "\"\(folder)\", the name of its folder") }
        let title = object.text("title")
        guard let kind = object.word("mode", as: SourceKind.self) else { return nil }
        let match = match(object, kind: kind)
        guard let name, let title, let match else { return nil }
        return ProfileHead(name: name, title: title, kind: kind, match: match)
    }

    private static func include(_ services: [IncludedService], in profile: inout Profile) {
        for service in services {
            for uuid in service.notify where !profile.notify.contains(uuid) {
                profile.notify.append(uuid)
                profile.optional.insert(uuid)
            }
            for uuid in service.read where !profile.readAtConnect.contains(uuid) {
                profile.readAtConnect.append(uuid)
                profile.optional.insert(uuid)
            }
        }
    }

    /// Keys of the other mode. For channels the sentence names the key to write instead.
    private static func refuseMisplaced(in object: ConfigurationObject, kind: SourceKind) {
        let misplaced =
            (kind == .externalAccessory ? [] : accessoryKeys)
            + (kind == .bluetoothCentral ? [] : peripheralKeys.filter { $0 != "characteristics" })
        for key in misplaced where object.has(key) {
            object.add("\(key) does not fit mode \"\(kind.rawValue)\"; remove it or change the mode", at: key)
        }
    }

    /// Only udev has properties, and only Bluetooth has services; a device of udev has no name.
    private static func refuseMisplaced(in match: ConfigurationObject, of object: ConfigurationObject, kind: SourceKind)
    {
        let isOfUdev = kind == .externalAccessory && !isCalled(object)
        let isOfBluetooth = kind == .bluetoothCentral || isCalled(object)
        let misplaced =
            (isOfUdev ? ["name_prefix"] : ["properties"]) + (isOfBluetooth ? [] : ["services"])
            + (kind == .bluetoothCentral ? [] : ["broadcast", "gives_way"])
        let place = isCalled(object) ? "node \"rfcomm\"" : "mode \"\(kind.rawValue)\""
        let advice = isCalled(object) ? "match by services or name_prefix" : "remove it or change the mode"
        for key in misplaced where match.has(key) {
            match.add("\(match.path(of: key)) does not fit \(place); \(advice)", at: key)
        }
    }

    private static func match(_ object: ConfigurationObject, kind: SourceKind) -> Profile.Match? {
        guard let found = object.object("match", keys: matchKeys) else { return nil }
        refuseMisplaced(in: found, of: object, kind: kind)
        var match = Profile.Match()
        match.services = uuids("services", of: found)
        match.namePrefixes = values(of: "name_prefix", in: found) ?? []
        match.broadcasts = broadcasts(of: found)
        match.givesWay = found.flag("gives_way") ?? false
        if let properties = found.object("properties", keys: nil) {
            match.properties = properties.keys.compactMap { name in
                values(of: name, in: properties).map { Profile.Match.Property(name: name, values: $0) }
            }
        }
        if found.keys.isEmpty || match.asksNothing && found.report.errors.isEmpty {
            found.add(
                "match asks for nothing and would match every device; name one of "
                    + matchKeys.filter { $0 != "gives_way" }.joined(separator: ", "))
        }
        return match
    }

    /// A text, or a list of which one is enough.
    private static func values(of key: String, in object: ConfigurationObject) -> [String]? {
        guard case .array(let texts)? = object.any(key) else { return object.text(key).map { [$0] } }
        guard !texts.isEmpty else {
            object.refuse(key, expected: "a text, or a list of texts of which one is enough")
            return nil
        }
        return object.texts(key)
    }

    private static func broadcasts(of match: ConfigurationObject) -> [Profile.Broadcast] {
        (match.objects("broadcast", keys: broadcastKeys) ?? []).compactMap { object in
            let part: AdvertisementPart? =
                if object.has("company"), !object.has("service_data") {
                    object.read("company", expected: "a company such as \"0499\", or \"any\"") { value in
                        value.string.flatMap { self.part("manufacturer_data", $0) }
                    }
                } else if object.has("service_data"), !object.has("company") {
                    object.read("service_data", expected: "a Bluetooth UUID such as \"fcd2\"") { value in
                        value.string.flatMap { self.part("service_data", $0) }
                    }
                } else {
                    nil
                }
            if object.has("company") == object.has("service_data") {
                object.add("\(object.path) needs either company or service_data")
            }
            let pattern = BytePattern(object, longest: BytePattern.longestBroadcast)
            if part == .anyManufacturerData, pattern.isEmpty {
                object.add("\(object.path) fits every broadcast with data of a company; write starts, length or at")
            }
            return part.map { Profile.Broadcast(part: $0, pattern: pattern) }
        }
    }

    private static func uuids(_ key: String, of object: ConfigurationObject) -> [BluetoothUUID] {
        object.list(key, of: "Bluetooth UUIDs") { value, path in
            if case .string(let text) = value, let uuid = BluetoothUUID(text) { return uuid }
            object.report.add("\(path) must be a Bluetooth UUID such as \"2a37\"; got \(value.found)", at: path)
            return nil
        } ?? []
    }
}

/// Broadcasts and their field lists.
extension ProfileDocument {
    private static func advertisement(of object: ConfigurationObject) -> AdvertisementProgram {
        var advertisement = AdvertisementProgram()
        guard let found = object.object("advertisement", keys: advertisementKeys) else { return advertisement }
        advertisement.isMerged = found.flag("merge") ?? false
        for key in advertisementKeys where key != "merge" {
            guard let list = found.object(key, keys: nil) else { continue }
            var seen: [AdvertisementPart: String] = [:]
            for name in list.keys {
                guard let part = part(key, name) else {
                    let example =
                        key == "service_data"
                        ? "a Bluetooth UUID such as \"181a\"" : "a company such as \"0499\", or \"any\""
                    list.add("a key of \(list.path) must be \(example); got \"\(name)\"", at: name)
                    continue
                }
                if let earlier = seen.updateValue(name, forKey: part) { list.refuseTwice(earlier, name) }
                guard let entry = list.object(name, keys: FieldCompiler.layoutKeys), let program = program(of: entry)
                else { continue }
                if advertisement.isMerged, program.handsOver {
                    found.add(
                        "\(found.path(of: "merge")) does not fit the decoder of \(entry.path), which reads its part "
                            + "alone; remove one of the two", at: "merge")
                }
                advertisement.entries.append(.init(part: part, program: program))
            }
        }
        return advertisement
    }

    /// `any` is every company: the number is data then.
    /// Companies by their four hexadecimal digits, as the Bluetooth SIG lists them.
    private static func part(_ key: String, _ name: String) -> AdvertisementPart? {
        if key == "service_data" { return BluetoothUUID(name).map { .serviceData($0) } }
        if name == "any" { return .anyManufacturerData }
        guard let bytes = [UInt8](hexadecimal: name), bytes.count == 2 else { return nil }
        return .manufacturerData(UInt16(bytes[0]) << 8 | UInt16(bytes[1]))
    }
}

/// Channels and their field lists.
extension ProfileDocument {
    private static func readChannels(of object: ConfigurationObject, into profile: inout Profile) {
        let kind = profile.kind
        let (fitting, misplaced) =
            kind == .bluetoothCentral ? ("characteristics", "streams") : ("streams", "characteristics")
        if object.has(misplaced) {
            object.add("\(misplaced) does not fit mode \"\(kind.rawValue)\"; write \(fitting)", at: misplaced)
        }
        guard let list = object.object(fitting, keys: nil) else { return }
        var seen: [Channel: String] = [:]
        for key in list.keys {
            guard let channel = channel(key, kind: kind) else {
                let example =
                    kind == .bluetoothCentral
                    ? "a Bluetooth UUID such as \"2a37\"" : "\"serial\", \"input\" or \"report-1\""
                list.add("a key of \(list.path) must be \(example); got \"\(key)\"", at: key)
                continue
            }
            if let earlier = seen.updateValue(key, forKey: channel) { list.refuseTwice(earlier, key) }
            let keys = kind == .bluetoothCentral ? channelKeys : streamKeys
            // A stream may have only a name: its bytes are raw then, and the profile still defines which node it needs.
            guard let entry = list.object(key, keys: keys, required: ["name"]) else { continue }
            read(entry, of: channel, into: &profile)
        }
    }

    static func read(_ entry: ConfigurationObject, of channel: Channel, into profile: inout Profile) {
        profile.channelNames[channel] = entry.text("name")
        if profile.kind == .bluetoothCentral, let (framing, limit) = framing(of: entry) {
            refuseSilence(framing, in: entry)
            profile.framings.append(.init(channel: channel, framing: framing, limit: limit))
        }
        if let program = channelProgram(channel, entry) { profile.programs.append(program) }
        if profile.kind == .externalAccessory { readWedge(entry, into: &profile.decoderSettings) }
    }

    /// How a device that types is read.
    private static func readWedge(_ entry: ConfigurationObject, into settings: inout DecoderSettings) {
        let given = wedgeKeys.filter { entry.has($0) }
        if !entry.isText("decoder", NamedDecoder.wedge.rawValue) {
            for key in given { entry.add("\(entry.path(of: key)) fits only decoder \"wedge\"; remove it", at: key) }
            return
        }
        settings.layout = entry.word("layout") ?? settings.layout
        settings.pause = entry.span("pause", in: .milliseconds(10) ... .seconds(10)) ?? settings.pause
    }

    /// Notifications are packets already: nothing measures the silence between them.
    private static func refuseSilence(_ framing: Framing, in entry: ConfigurationObject) {
        switch framing {
        case .none, .idle:
            entry.add(
                "\(entry.path(of: "framing")) cannot be of this kind on a characteristic; leave it out to get each notification",
                at: "framing")
        case .line, .delimiter, .lengthPrefix, .fixed, .slip, .cobs, .hdlc, .marked: break
        }
    }

    private static func channelProgram(_ channel: Channel, _ entry: ConfigurationObject) -> ChannelProgram? {
        let check = CheckForm.read("check", of: entry)
        if channel == .input, entry.has("check") {
            entry.add("\(entry.path(of: "check")) does not fit input events, which carry none; remove it", at: "check")
        }
        if channel.isOfBluetooth || FieldCompiler.layoutKeys.contains(where: { entry.has($0) }) {
            return program(of: entry).map { program in
                var program = program
                program.surplus = surplus(of: channel, hasCheck: check != nil)
                return ChannelProgram(channel: channel, check: check, form: .fields, program: program)
            }
        }
        if entry.has("derive") {
            entry.add("\(entry.path(of: "derive")) needs fields, whose numbers it counts", at: "derive")
        }
        if channel == .input { return ChannelProgram(channel: channel, form: .inputEvents) }
        return check.map { ChannelProgram(channel: channel, check: $0, form: .none) }
    }

    private static func surplus(of channel: Channel, hasCheck: Bool) -> FieldProgram.Surplus {
        switch channel {
        case .characteristic: .kept
        case .report: .keptWithoutPadding
        case .serial: hasCheck ? .kept : .refused
        case .advertisement, .input, .stream, .fragment: .refused
        }
    }

    private static func program(of entry: ConfigurationObject) -> FieldProgram? {
        let program = FieldCompiler.compile(entry)
        if let program, program.steps.isEmpty {
            entry.add(
                "\(entry.path(of: "fields")) is empty; leave \(entry.path) out to get raw bytes only", at: "fields")
        }
        return program
    }

    static func channel(_ key: String, kind: SourceKind) -> Channel? {
        if kind == .bluetoothCentral { return BluetoothUUID(key).map { .characteristic($0) } }
        return Channel(stream: key)
    }
}

// The keys of a profile that define which node of an accessory is opened, how, and when it is released.
extension ProfileDocument {
    static let accessoryKeys = ["node", "serial", "framing", "sharing", "on_suspend", "settle", "replug_grace"]
    static let lineKeys = ["baud", "data_bits", "parity", "stop_bits", "flow", "dtr", "rts"]

    /// Nil, and reported, where the node cannot be determined.
    static func accessory(of object: ConfigurationObject) -> AccessoryPlan? {
        let node = node(of: object)
        var plan = AccessoryPlan(node: node ?? .none)
        plan.line = line(of: object) ?? plan.line
        if let framing = framing(of: object) { (plan.framing, plan.frameLimit) = framing }
        plan.sharing = object.word("sharing") ?? plan.sharing
        plan.onSuspend = object.word("on_suspend") ?? plan.onSuspend
        plan.settle = object.span("settle", in: .zero ... .seconds(60)) ?? plan.settle
        plan.replugGrace = object.span("replug_grace", in: .zero ... .seconds(60)) ?? plan.replugGrace
        guard let node else { return nil }
        checkKeysFit(node, in: object)
        return plan
    }

    /// The named node, or else the one whose streams are listed.
    static func node(of object: ConfigurationObject) -> AccessoryNode? {
        let streams = streamNodes(of: object)
        guard object.has("node") else { return node(telling: streams, in: object) }
        guard let node = object.word("node", as: AccessoryNode.self) else { return nil }
        for stream in streams where stream.node.map({ $0 != node.streams }) ?? false {
            let other = stream.node.map(\.rawValue) ?? ""
            object.add(
                "node is \"\(node.rawValue)\", but streams has \"\(stream.key)\", which comes from node \"\(other)\"; "
                    + "change one of the two", at: "node")
            return nil
        }
        return node
    }

    private typealias StreamNode = (key: String, node: AccessoryNode?)

    private static func node(telling streams: [StreamNode], in object: ConfigurationObject) -> AccessoryNode? {
        guard let first = streams.first else {
            object.add(
                "node is missing, and no stream tells it; write node: \"serial\", \"hid\" or \"input\", \"rfcomm\" for a "
                    + "serial port over Bluetooth, or \"none\" where nothing is to be opened", at: "node")
            return nil
        }
        if let other = streams.first(where: { $0.node != first.node }), other.node != nil, first.node != nil {
            object.add(
                "streams has \"\(first.key)\" and \"\(other.key)\", which come from different nodes; keep those of one "
                    + "node, and write a second profile for the other", at: "streams")
            return nil
        }
        return first.node
    }

    /// The keys of `streams`, each with its node; nil for a name that is no stream, which is reported.
    private static func streamNodes(of object: ConfigurationObject) -> [StreamNode] {
        guard case .object(let members) = object.value("streams") else { return [] }
        return members.map(\.name).sorted().map { key in
            switch channel(key, kind: .externalAccessory) {
            case .serial: (key, .serial)
            case .report: (key, .hid)
            case .input: (key, .input)
            case .characteristic, .fragment, .stream, nil: (key, nil)
            }
        }
    }

    private static func checkKeysFit(_ node: AccessoryNode, in object: ConfigurationObject) {
        let serialKeys = node == .rfcomm ? ["serial"] : ["serial", "framing"]
        for key in serialKeys where node != .serial && object.has(key) {
            object.add("\(key) does not fit node \"\(node.rawValue)\"; remove it or write node: \"serial\"", at: key)
        }
        guard let why = node.whyAlone else { return }
        for key in ["sharing", "on_suspend"] where object.has(key) {
            object.add("\(key) does not fit node \"\(node.rawValue)\", \(why); remove it", at: key)
        }
    }

    /// A serial port over Bluetooth: bluetoothd announces it, and the bridge connects it.
    static func isCalled(_ object: ConfigurationObject) -> Bool {
        object.value("node") == .string(AccessoryNode.rfcomm.rawValue)
    }

    private static func line(of object: ConfigurationObject) -> LineSettings? {
        guard let found = object.object("serial", keys: lineKeys) else { return nil }
        var line = LineSettings()
        line.baud = found.integer("baud", in: 50...12_000_000) ?? line.baud
        line.dataBits = found.integer("data_bits", in: 5...8) ?? line.dataBits
        line.parity = found.word("parity") ?? line.parity
        line.stopBits = found.integer("stop_bits", in: 1...2) ?? line.stopBits
        line.flow = found.word("flow") ?? line.flow
        line.dtr = found.word("dtr") ?? line.dtr
        line.rts = found.word("rts") ?? line.rts
        if line.flow == .hardware, line.rts != .untouched {
            found.add(
                "serial.rts does not fit flow \"hardware\", which moves RTS by itself; remove one of the two")
        }
        return line
    }
}

extension AccessoryNode {
    /// The node that has the same streams.
    fileprivate var streams: AccessoryNode { self == .rfcomm ? .serial : self }

    /// Why `sharing` and `on_suspend` do not fit it; nil where they do.
    fileprivate var whyAlone: String? {
        switch self {
        case .serial, .hid, .input: nil
        case .rfcomm: "which no other program can open"
        case .none: "of which nothing is opened"
        }
    }
}

// The key `framing` of a profile: how the bytes of a serial accessory become messages.
extension ProfileDocument {
    static let framingKeys = [
        "kind", "limit", "delimiter", "tail", "start", "offset", "size", "endian", "extra", "length", "gap",
        "interrupts",
    ]

    enum FramingKind: String, CaseIterable {
        case none, line, delimiter
        case lengthPrefix = "length-prefix"
        case fixed, idle, slip, cobs, hdlc

        /// The keys that may come beside it.
        var keys: [String] {
            switch self {
            case .none, .slip, .cobs, .hdlc: ["limit"]
            case .line: ["start", "limit", "interrupts"]
            case .delimiter: ["delimiter", "start", "tail", "limit", "interrupts"]
            case .lengthPrefix: ["start", "offset", "size", "endian", "extra", "limit"]
            case .fixed: ["start", "length"]
            case .idle: ["gap", "limit"]
            }
        }

        /// The key that must come beside it.
        var required: String? {
            switch self {
            case .none, .line, .slip, .cobs, .hdlc: nil
            case .delimiter: "delimiter"
            case .lengthPrefix: "size"
            case .fixed: "length"
            case .idle: "gap"
            }
        }
    }

    /// The longest message that an event can hold.
    private static let longestMessage = 16_384
    private static let defaultLimit = 4_096

    /// Nil where the key is absent; nil and reported where it cannot be read.
    static func framing(of object: ConfigurationObject) -> (framing: Framing, limit: Int)? {
        if case .array? = object.value("framing") { return framings(of: object) }
        guard let found = object.object("framing", keys: framingKeys, required: ["kind"]) else { return nil }
        if found.has("interrupts") {
            found.add(
                "\(found.path(of: "interrupts")) fits only one of several framings; write a list, or remove it",
                at: "interrupts")
        }
        return framing(in: found)
    }

    /// Several, each with a mark at its start: the one that begins first is a message's. A single one that others interrupt
    /// needs none.
    private static func framings(of object: ConfigurationObject) -> (framing: Framing, limit: Int)? {
        guard let list = object.objects("framing", keys: framingKeys, required: ["kind"]) else { return nil }
        if list.isEmpty { object.add("\(object.path(of: "framing")) is empty; leave it out", at: "framing") }
        var forms: [Framing.Marked] = []
        let interrupting = list.map { $0.flag("interrupts") ?? false }
        let isOneInterrupted = interrupting.count { !$0 } == 1
        for (found, interrupts) in zip(list, interrupting) {
            guard let (framing, limit) = framing(in: found) else { return nil }
            guard var form = framing.form, !form.start.isEmpty || isOneInterrupted && !interrupts else {
                found.add("\(found.path) needs start: of several framings each begins with a mark of its own")
                return nil
            }
            (form.limit, form.interrupts) = (limit, interrupts)
            for (other, earlier) in zip(list, forms) { refuseClash(of: found, form.start, other, earlier.start) }
            forms.append(form)
        }
        return (.marked(forms), forms.compactMap(\.limit).max() ?? 0)
    }

    /// Refuses two marks that begin alike: the message would be ambiguous.
    private static func refuseClash(
        of found: ConfigurationObject, _ start: [UInt8], _ other: ConfigurationObject, _ earlier: [UInt8]
    ) {
        guard !start.isEmpty, !earlier.isEmpty, start.starts(with: earlier) || earlier.starts(with: start) else {
            return
        }
        found.add(
            "\(found.path(of: "start")) is \"\(start.hexadecimal)\" and \(other.path(of: "start")) "
                + "\"\(earlier.hexadecimal)\": one begins with the other, and nothing tells them apart; write longer ones",
            at: "start")
    }

    private static func framing(in found: ConfigurationObject) -> (framing: Framing, limit: Int)? {
        guard let kind = found.word("kind", as: FramingKind.self) else { return nil }
        refuseKeys(that: kind, doesNotKnow: found)
        let limit = found.integer("limit", in: 1...longestMessage) ?? defaultLimit
        guard let framing = framing(kind, of: found, limit: limit) else { return nil }
        // All messages have this length, so the longest has it too.
        if kind == .fixed, let length = found.integer("length", in: 1...longestMessage) { return (framing, length) }
        return (framing, limit)
    }

    private static func refuseKeys(that kind: FramingKind, doesNotKnow object: ConfigurationObject) {
        let others = framingKeys.filter { $0 != "kind" && !kind.keys.contains($0) }
        for key in others where object.has(key) {
            let kinds = FramingKind.allCases.filter { $0.keys.contains(key) }.map { "\"\($0.rawValue)\"" }
            object.add(
                "\(object.path(of: key)) does not fit kind \"\(kind.rawValue)\"; it belongs to \(kinds.joined(separator: ", "))",
                at: key
            )
        }
        if let key = kind.required, !object.has(key) {
            object.add("\(object.path(of: key)) is missing; kind \"\(kind.rawValue)\" needs it", at: key)
        }
    }

    private static func framing(_ kind: FramingKind, of object: ConfigurationObject, limit: Int) -> Framing? {
        switch kind {
        case .none: .some(.none)
        case .line: start(of: object).map { marked($0, .line) } ?? .line
        case .delimiter: delimiter(of: object)
        case .lengthPrefix: lengthPrefix(of: object, limit: limit).map { .lengthPrefix($0) }
        case .fixed: fixed(of: object)
        case .idle: object.span("gap", in: .milliseconds(1) ... .seconds(60)).map { .idle($0) }
        case .slip: .slip
        case .cobs: .cobs
        case .hdlc: .hdlc
        }
    }

    private static func start(of object: ConfigurationObject) -> [UInt8]? { mark("start", of: object) }

    private static func marked(_ start: [UInt8], _ rest: Framing.Marked.Rest) -> Framing {
        .marked([.init(start: start, rest: rest)])
    }

    private static func delimiter(of object: ConfigurationObject) -> Framing? {
        guard let mark = mark("delimiter", of: object) else { return nil }
        let tail = object.integer("tail", in: 1...64)
        if tail == nil, !object.has("start") { return .delimiter(mark) }
        return marked(start(of: object) ?? [], .delimiter(mark, tail: tail))
    }

    private static func fixed(of object: ConfigurationObject) -> Framing? {
        guard let length = object.integer("length", in: 1...longestMessage) else { return nil }
        guard let start = start(of: object) else { return .fixed(length) }
        if start.count > length {
            object.add(
                "\(object.path(of: "length")) must be at least the \(start.count) of start; got \(length)", at: "length"
            )
        }
        return marked(start, .fixed(length))
    }

    private static func lengthPrefix(of object: ConfigurationObject, limit: Int) -> Framing.LengthPrefix? {
        let start = mark("start", of: object) ?? []
        let offset = object.integer("offset", in: start.count...64) ?? start.count
        let size = object.read("size", expected: "1, 2 or 4") { value -> Int? in
            if case .integer(let whole) = value, [1, 2, 4].contains(whole) { Int(whole) } else { nil }
        }
        let endian = object.word("endian", as: Framing.Endian.self) ?? .little
        guard let size else { return nil }
        // By default the length counts the bytes that follow it.
        let extra = object.integer("extra", in: 0...1_024) ?? offset + size
        if limit < offset + size {
            object.add(
                "framing.limit must be at least \(offset + size), the end of the length; got \(limit)", at: "limit")
        }
        return .init(start: start, offset: offset, size: size, endian: endian, extra: extra)
    }

    private static func mark(_ key: String, of object: ConfigurationObject) -> [UInt8]? {
        object.read(key, expected: "1 to 16 bytes in hexadecimal, such as \"0d0a\"") { value in
            guard case .string(let text) = value, let bytes = [UInt8](hexadecimal: text), (1...16).contains(bytes.count)
            else { return nil }
            return bytes
        }
    }
}

extension Framing {
    /// The one form with a mark that it is; nil for others.
    fileprivate var form: Marked? {
        switch self {
        case .marked(let forms): forms.count == 1 ? forms.first : nil
        case .lengthPrefix(let prefix): Marked(start: prefix.start, rest: .length(prefix))
        case .line: Marked(start: [], rest: .line)
        case .delimiter(let mark): Marked(start: [], rest: .delimiter(mark, tail: nil))
        case .fixed(let count): Marked(start: [], rest: .fixed(count))
        case .none, .idle, .slip, .cobs, .hdlc: nil
        }
    }
}

extension Profile {
    /// Finds damaged messages of a channel; nil if no check is known.
    fileprivate func trial(of channel: Channel) -> MessageTrial? {
        programs.first { $0.channel == channel && $0.hasCheck }.map { MessageTrial($0) }
    }

    /// Its device types lines of text.
    fileprivate var isTyped: Bool {
        programs.contains { $0.channel == .input && $0.form == .fields && $0.program.names(.wedge) }
    }
}

extension Channel {
    fileprivate var isOfBluetooth: Bool {
        switch self {
        case .characteristic: true
        case .fragment, .report, .stream: false
        }
    }
}
