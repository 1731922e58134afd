// Every shipped profile, spoilt in one place: the fault names the file and the place, and the key that was meant.
import TestBench
import Testing
import WakeModel

@testable import WakeProfiles

/// One way to spoil a profile.
private enum Spoiling: CaseIterable {
    case misspeltKey
    case wrongType
    case outOfRange
    case unknownWord
    case missingKey
    case cutText

    /// Whole numbers that are never below zero, and lengths.
    private static let counts: Set = [
        "length", "width", "decimals", "size", "baud", "data_bits", "stop_bits", "limit", "tail", "wrap", "ticks",
        "time_wrap",
    ]
    /// Of these the language has a closed list of words.
    private static let words: Set = [
        "type", "mode", "kind", "endian", "form", "order", "decoder", "node", "sharing", "on_suspend", "parity", "flow",
    ]
    private static let needed: Set = ["name", "title", "mode", "match"]

    func fits(_ spot: Spot) -> Bool {
        switch self {
        case .misspeltKey, .wrongType: true
        case .outOfRange: Self.counts.contains(spot.key) && spot.value.integer != nil
        case .unknownWord: Self.words.contains(spot.key) && spot.value.string != nil
        case .missingKey: spot.outer == .document && Self.needed.contains(spot.key) || spot.isTypeOfField
        case .cutText: false
        }
    }

    /// What stands in the place; nil: nothing.
    func replacement(for spot: Spot) -> JSONValue.Member? {
        switch self {
        case .misspeltKey: .init(name: Self.misspelt(spot.key), value: spot.value)
        case .wrongType:
            .init(name: spot.key, value: spot.value.isComposed ? .integer(7) : .array([.boolean(true), .null]))
        case .outOfRange: .init(name: spot.key, value: .integer(-7))
        case .unknownWord: .init(name: spot.key, value: .string("nonsuch"))
        case .missingKey, .cutText: nil
        }
    }

    /// Two letters have changed places, or the first one comes twice.
    static func misspelt(_ key: String) -> String {
        let letters = Array(key)
        guard letters.count > 3, letters[1] != letters[2] else { return String(letters.prefix(1)) + key }
        return String([letters[0], letters[2], letters[1]] + letters[3...])
    }

    func isTold(by error: ConfigurationError, of spot: Spot) -> Bool {
        let place = spot.outer.member(spot.key)
        switch self {
        case .misspeltKey:
            return error.place == spot.outer.member(Self.misspelt(spot.key))
                && error.sentence.contains("did you mean \"\(spot.key)\"?")
        case .missingKey: return error.place == place && error.sentence.hasSuffix("is missing")
        // Of some keys a list is right, and what is in it wrong.
        case .wrongType: return error.place?.description.hasPrefix(place.description) == true && error.line == 1
        case .outOfRange, .unknownWord: return error.place == place && error.line == 1
        case .cutText: return error.line != nil && error.column != nil
        }
    }
}

/// A member of a profile, with its key from the language.
private struct Spot: Hashable {
    var outer: ConfigurationPath
    var key: String
    var value: JSONValue
    /// The type of a field that has one, outside a text.
    var isTypeOfField: Bool

    /// Members of these are named by channels, companies and tags.
    private static let lists: Set = ["streams", "characteristics", "service_data", "manufacturer_data", "tags"]

    static func all(in value: JSONValue, at place: ConfigurationPath = .document, inText: Bool = false) -> [Spot] {
        switch value {
        case .object(let members):
            members.flatMap { member -> [Spot] in
                let inner = place.member(member.name)
                guard SpoiltLanguageTests.closed.contains(member.name), !lists.contains(place.lastKey) else {
                    return all(in: member.value, at: inner, inText: inText)
                }
                let isType = member.name == "type" && value["name"] != nil && !inText
                let spot = Spot(outer: place, key: member.name, value: member.value, isTypeOfField: isType)
                // In these people choose the names.
                let isOpen = ["bits", "values", "units", "properties"].contains(member.name)
                return [spot]
                    + (isOpen ? [] : all(in: member.value, at: inner, inText: inText || member.name == "text"))
            }
        case .array(let values):
            values.enumerated().flatMap { all(in: $1, at: .element(place, $0), inText: inText) }
        case .null, .boolean, .integer, .number, .string: []
        }
    }
}

extension ConfigurationPath {
    fileprivate var lastKey: String {
        if case .value(let key, _) = self { key } else { "" }
    }
}

extension JSONValue {
    fileprivate var isComposed: Bool {
        switch self {
        case .array, .object: true
        case .null, .boolean, .integer, .number, .string: false
        }
    }

    /// With another member in a place, or without it.
    fileprivate func replacing(_ spot: Spot, with member: Member?, at place: ConfigurationPath = .document) -> JSONValue
    {
        switch self {
        case .object(let members):
            .object(
                members.compactMap { old in
                    if place == spot.outer, old.name == spot.key { return member }
                    let inner = place.member(old.name)
                    return .init(name: old.name, value: old.value.replacing(spot, with: member, at: inner))
                })
        case .array(let values):
            .array(values.enumerated().map { $1.replacing(spot, with: member, at: .element(place, $0)) })
        case .null, .boolean, .integer, .number, .string: self
        }
    }

    fileprivate var written: [UInt8] {
        var writer = JSONWriter()
        writer.value(self)
        return writer.bytes
    }
}

@Suite("Spoilt profiles of the library")
struct SpoiltProfileTests {
    @Test("every shipped profile, spoilt in each way, is refused with its file, its place and the key that was meant")
    func profiles() throws {
        let shared = try shippedCharacteristics()
        var dice = Dice(26)
        var counts: [String: Int] = [:]
        for source in try shippedSources() {
            let text = try source.text()
            let document = try JSONValue(json5: text)
            let spots = Spot.all(in: document)
            // Reading all of them for each would take a minute.
            let own = shared.filter { String(decoding: text, as: UTF8.self).contains($0.name) }
            for way in Spoiling.allCases {
                guard let (spot, spoilt) = Self.spoil(document, text, spots.filter(way.fits), way, &dice) else {
                    continue
                }
                let (library, errors) = ProfileLibrary.load(
                    [.init(name: source.name, file: source.file, text: spoilt)], shared: own)
                let about = Comment(
                    rawValue: "\(way) \(spot.outer).\(spot.key) of \(source.name): \(errors.map(\.description))")
                #expect(library.names.isEmpty && errors.allSatisfy { $0.file == source.file }, about)
                #expect(errors.contains { way.isTold(by: $0, of: spot) }, about)
                counts["\(way)", default: 0] += 1
            }
        }
        print("spoilt profiles refused: \(counts.values.reduce(0, +)), \(counts.sorted { $0.key < $1.key })")
        #expect(counts.values.reduce(0, +) >= 200 && counts.count == Spoiling.allCases.count)
    }

    /// Nil where the profile has no place for it.
    private static func spoil(
        _ document: JSONValue, _ text: [UInt8], _ spots: [Spot], _ way: Spoiling, _ dice: inout Dice
    ) -> (Spot, [UInt8])? {
        if way == .cutText {
            guard let start = text.firstIndex(of: UInt8(ascii: "{")), let end = text.lastIndex(of: UInt8(ascii: "}"))
            else {
                return nil
            }
            let whole = Spot(outer: .document, key: "", value: document, isTypeOfField: false)
            return (whole, Array(text[..<(start + dice.below(end - start))]))
        }
        guard !spots.isEmpty else { return nil }
        let spot = spots[dice.below(spots.count)]
        return (spot, document.replacing(spot, with: way.replacement(for: spot)).written)
    }
}
