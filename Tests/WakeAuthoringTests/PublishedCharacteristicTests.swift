// Every published pair of a characteristic of the Bluetooth SIG: its bytes, and its fields in their order.
import DeviceLibrary
import TestBench
import Testing
import WakeAuthoring
import WakeModel
import WakeProfiles

private let file = "sig-characteristics.json"

/// One characteristic's bytes, and the fields that its source and the SIG's supplement read in them.
private struct PublishedCharacteristic {
    struct Field {
        var name: String
        var raw: JSONValue
        var value: JSONValue
    }

    var name: String
    var bytes: [UInt8]
    var fields: [Field]

    static func all() throws -> [PublishedCharacteristic] {
        (try PublishedPairs.read(file).array ?? []).map { entry in
            PublishedCharacteristic(
                name: entry["characteristic"]?.string ?? "",
                bytes: [UInt8](hexadecimal: entry["hex"]?.string ?? "") ?? [],
                fields: (entry["fields"]?.array ?? []).map {
                    Field(name: $0["name"]?.string ?? "", raw: $0["raw"] ?? .null, value: $0["value"] ?? .null)
                })
        }
    }
}

@Suite(
    "Published pairs of characteristics",
    .enabled(unless: PublishedPairs.hindrance(file)))
struct PublishedCharacteristicTests {
    @Test("every pair of a characteristic decodes, field by field, as its source reads it")
    func pairs() throws {
        let pairs = try PublishedCharacteristic.all()
        let definitions = try Self.definitions()
        let decoder = try Self.decoder(of: pairs.compactMap { definitions[$0.name]?.uuid })
        var stand = 0
        for pair in pairs {
            let (uuid, definition) = try #require(definitions[pair.name], "\(pair.name) is not shipped")
            let faults = try Self.faults(of: pair, uuid, definition, decoder)
            #expect(faults == [], "\(pair.name)")
            stand += faults.isEmpty ? 1 : 0
        }
        print("characteristics: \(stand) of \(pairs.count) published pairs decode")
        #expect(pairs.count == 221)
    }

    private static func definitions() throws -> [String: (uuid: BluetoothUUID, text: JSONValue)] {
        var found: [String: (BluetoothUUID, JSONValue)] = [:]
        for source in ShippedLibrary.shared {
            let text = try JSONValue(json5: source.text ?? [])
            found[text["name"]?.string ?? ""] = (try #require(BluetoothUUID(source.name)), text)
        }
        return found
    }

    /// Of one profile that takes them all from what is shared.
    private static func decoder(of uuids: [BluetoothUUID]) throws -> ProfileDecoder {
        let read = uuids.map { "\"\($0)\"" }.joined(separator: ",")
        let text =
            "{name: \"all\", title: \"All\", mode: \"bluetooth-central\", match: {services: [\"fff0\"]}, "
            + "read: [\(read)]}"
        let (library, errors) = ProfileLibrary.load(
            [.init(name: "all", file: "all.json5", text: Array(text.utf8))], shared: ShippedLibrary.shared)
        #expect(errors.map(\.description) == [])
        return library.decoder(try #require(library.index(named: "all")))
    }

    private static func faults(
        of pair: PublishedCharacteristic, _ uuid: BluetoothUUID, _ definition: JSONValue, _ decoder: ProfileDecoder
    ) throws -> [String] {
        var writer = JSONWriter()
        do throws(DecodeFault) {
            guard try decoder.decode(pair.bytes, from: .characteristic(uuid), into: &writer) else {
                return ["no value"]
            }
        } catch { return [error.description] }
        var comparison = FieldComparison(pair, value: try JSONValue(parsing: writer.bytes))
        comparison.walk(Self.fields(of: definition, count: pair.bytes.count))
        return comparison.faults
    }

    /// Of variants the one for as many bytes.
    private static func fields(of definition: JSONValue, count: Int) -> [JSONValue] {
        let variants = definition["variants"]?.array ?? []
        let fitting = variants.first { $0["when"]?["length"]?.integer == Int64(count) } ?? variants.last
        return (definition["fields"] ?? fitting?["fields"])?.array ?? []
    }
}

/// Goes through a definition, takes the published fields that its own stand for, and compares.
private struct FieldComparison {
    let name: String
    let value: JSONValue
    var published: [PublishedCharacteristic.Field]
    private(set) var faults: [String] = []
    private var seen: Set<String> = []
    /// Raw numbers of fields that have names for bits, with these names.
    private var bits: [String: (raw: Int64, names: JSONValue)] = [:]
    private var run: (bits: Int64, width: Int64) = (0, 0)

    /// Three bytes of bits, of which the pair has one number.
    private static let joined = ["cgm_status": ["status", "calibration", "warning"]]

    init(_ pair: PublishedCharacteristic, value: JSONValue) {
        (name, self.value, published) = (pair.name, value, pair.fields)
    }

    mutating func walk(_ fields: [JSONValue]) {
        for field in fields { take(field) }
        // Bytes that its source could not read either.
        if published.first?.name == "(left)", published.first?.raw == value["undecoded"] {
            published.removeFirst()
            seen.insert("undecoded")
        }
        if !published.isEmpty { faults.append("not said: \(published.map(\.name))") }
        if case .object(let members) = value {
            faults += members.filter { !seen.contains($0.name) }.map { "not published: \($0.name)" }
        }
    }

    private mutating func take(_ field: JSONValue) {
        let name = field["name"]?.string ?? ""
        let isHidden = field["hidden"] == .boolean(true)
        guard isHidden ? isPresent(field) : value[name] != nil && seen.insert(name).inserted else { return }
        switch field["type"]?.string {
        case "bits" where isHidden: break
        case "bits": compare(value[name], raw: part(field["of"]?.string ?? ""), field)
        case "ubits", "sbits": takeRun(field)
        case "time": takeTime(name)
        default: takePublished(field, name, isHidden: isHidden)
        }
    }

    private mutating func takePublished(_ field: JSONValue, _ name: String, isHidden: Bool) {
        guard !published.isEmpty else { return faults.append("no more fields for \(name)") }
        var next = published.removeFirst()
        if Self.joined[self.name]?.dropLast().contains(name) == true, let raw = next.raw.integer {
            published.insert(next, at: 0)
            published[0].raw = .integer(raw >> 8)
            next.raw = .integer(raw & 255)
        }
        if let names = field["bits"], let raw = next.raw.integer { bits[name] = (raw, names) }
        if !isHidden, !says(value[name] ?? .null, next, field) {
            faults.append("\(name) is \(value[name] ?? .null), and was published as \(next.name): \(next.value)")
        }
    }

    private mutating func takeTime(_ name: String) {
        let parts = published.prefix(6).compactMap(\.raw.integer).map(Int.init)
        guard parts.count == 6 else { return faults.append("no time for \(name)") }
        published.removeFirst(6)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let date = "\(parts[0])-\(two(parts[1]))-\(two(parts[2]))"
        let wanted = "\(date)T\(two(parts[3])):\(two(parts[4])):\(two(parts[5]))"
        if value[name]?.string != wanted { faults.append("\(name) is no \(wanted)") }
    }

    /// The pair has the bits of a whole run as one number.
    private mutating func takeRun(_ field: JSONValue) {
        let found = value[field["name"]?.string ?? ""] ?? .null
        run.bits |= (found.integer ?? number(of: found, field) ?? 0) << run.width
        run.width += field["width"]?.integer ?? 0
        guard run.width % 8 == 0 else { return }
        let next = published.isEmpty ? nil : published.removeFirst()
        if next?.raw.integer != run.bits { faults.append("\(next?.name ?? "nothing") has other bits") }
        run = (0, 0)
    }

    private mutating func compare(_ found: JSONValue?, raw: Int64?, _ field: JSONValue) {
        let name = field["name"]?.string ?? ""
        guard let raw, let found else { return faults.append("no bits for \(name)") }
        let part = PublishedCharacteristic.Field(name: name, raw: .integer(raw), value: .integer(raw))
        if !says(found, part, field) { faults.append("\(name) is \(found), and its bits are \(raw)") }
    }
}

extension FieldComparison {
    /// The bits that are called so, such as `flags.energy`.
    private func part(_ name: String) -> Int64? {
        let words = name.split(separator: ".").map(String.init)
        guard words.count == 2, let (raw, names) = bits[words[0]], let place = names[words[1]] else { return nil }
        let ends = place.string?.split(separator: "-").compactMap { Int64($0) } ?? [place.integer ?? 0]
        guard let low = ends.first, let high = ends.last else { return nil }
        return raw >> low & (1 << (high - low + 1) - 1)
    }

    private func isPresent(_ field: JSONValue) -> Bool {
        guard let condition = field["if"]?.string else { return true }
        return condition == "left" ? !published.isEmpty : (part(condition) ?? 0) != 0
    }

    /// What a word stands for.
    private func number(of word: JSONValue, _ field: JSONValue) -> Int64? {
        guard case .object(let words)? = field["values"] else { return nil }
        return words.first { $0.value == word }.flatMap { Int64($0.name) }
    }

    private func says(_ ours: JSONValue, _ theirs: PublishedCharacteristic.Field, _ field: JSONValue) -> Bool {
        switch ours {
        case .null: return isNone(theirs.raw, field)
        case .boolean(let flag): return (theirs.raw.integer != 0) == flag
        case .string(let text):
            if let number = number(of: ours, field) { return theirs.raw.integer == number }
            return ours == theirs.value || ours == theirs.raw || reversed(text) == theirs.raw.integer
        case .array(let list): return list.count == 1 && says(list[0], theirs, field)
        case .integer, .number: return isNear(ours.number ?? 0, theirs, field)
        case .object: return false
        }
    }

    private func isNone(_ raw: JSONValue, _ field: JSONValue) -> Bool {
        field["null"]?.array?.contains(raw) == true || field["values"] != nil && number(of: raw, field) == nil
    }

    /// Of some fields the scale stands only in prose, and the pair has what was sent.
    private func isNear(_ ours: Double, _ theirs: PublishedCharacteristic.Field, _ field: JSONValue) -> Bool {
        guard let value = theirs.value.number else { return false }
        let scaled = theirs.value.number == theirs.raw.number ? value * scale(of: field) : value
        return [value, scaled].contains { abs(ours - $0) <= 1e-6 * max(1, abs($0)) }
    }

    private func scale(of field: JSONValue) -> Double {
        guard let text = field["scale"]?.string else { return field["scale"]?.number ?? 1 }
        let parts = text.split(separator: "/").compactMap { Double($0) }
        return parts.count == 2 ? parts[0] / parts[1] : 1
    }

    /// Bytes in hexadecimal as the number that they are with the lowest first.
    private func reversed(_ text: String) -> Int64? {
        guard let bytes = [UInt8](hexadecimal: text), bytes.count <= 8 else { return nil }
        return Int64(bitPattern: bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) })
    }
}
