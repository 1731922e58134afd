// libinput record: a list of devices in a simple part of YAML, each with its events.
import WakeModel
import WakeTrace

struct LibinputFollower: LineFollower {
    private var devices = 0
    private var name: String?
    private var maker: UInt16?
    private var model: UInt16 = 0
    private var place: Int?
    private var isInEvents = false
    private var gathering = InputGathering()
    private var abilities = InputAbilities()
    private var hidden = 0

    mutating func read(_ line: ArraySlice<UInt8>, at offset: Int, into draft: inout TraceDraft) throws(ImportError) {
        let text = line.trimmed
        if text.hasPrefix("- node:") { return try beginDevice(&draft) }
        if text.hasPrefix("events:") { isInEvents = true }
        guard isInEvents else { return describe(text) }
        guard let list = text.after("- ["), devices > 0 else { return }
        try readEvent(list, at: offset, into: &draft)
    }

    mutating func finish(into draft: inout TraceDraft) throws(ImportError) {
        if devices > 0 { _ = device(&draft) }
        if gathering.isOpen { draft.warn("the recording ends inside a batch of events, which is left out") }
        if hidden > 0 {
            draft.warn("the recorder put KEY_A in place of keys that show what was typed; --show-keycodes records them")
        }
    }

    private mutating func beginDevice(_ draft: inout TraceDraft) throws(ImportError) {
        if devices > 0 {
            _ = device(&draft)
            draft.beginRun()
        }
        devices += 1
        (name, maker, model, place, isInEvents, gathering) = (nil, nil, 0, nil, false, InputGathering())
        abilities = InputAbilities()
    }

    private mutating func describe(_ text: ArraySlice<UInt8>) {
        if let quoted = text.after("name: \""), name == nil { name = quoted.prefix { $0 != UInt8(ascii: "\"") }.text }
        if let property = text.after("- ID_INPUT_"), property.suffix(2).elementsEqual("=1".utf8) {
            abilities.add(name: property.dropLast(2).text)
        }
        guard let list = text.after("id: ["), maker == nil else { return }
        let numbers = Self.numbers(list)
        guard numbers.count >= 3 else { return }
        (maker, model) = (UInt16(truncatingIfNeeded: numbers[1]), UInt16(truncatingIfNeeded: numbers[2]))
    }

    /// `0, 811463, 4, 4, 30] # …`: seconds, microseconds, type, code, value.
    private mutating func readEvent(
        _ list: ArraySlice<UInt8>, at offset: Int, into draft: inout TraceDraft
    ) throws(ImportError) {
        let numbers = Self.numbers(list)
        guard list.contains(UInt8(ascii: "]")), numbers.count == 5, (0..<9_000_000_000).contains(numbers[0]),
            (0..<1_000_000).contains(numbers[1]), let type = UInt16(exactly: numbers[2]),
            let code = UInt16(exactly: numbers[3]), let value = Int32(exactly: numbers[4])
        else {
            throw ImportError(offset: offset, reason: "no event of libinput: five numbers between square brackets")
        }
        draft.advance(to: numbers[0] * 1_000_000_000 + numbers[1] * 1000, at: offset)
        draft.counts.records += 1
        if type == 1, code == 30 { hidden += 1 } else if type == 1, code < 84 { hidden = -(1 << 40) }
        if let place = device(&draft) { gathering.add(type, code, value, to: &draft, place) }
    }

    private static func numbers(_ list: ArraySlice<UInt8>) -> [Int64] {
        let inside = list.prefix { $0 != UInt8(ascii: "]") }
        let words = inside.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        return words.compactMap { Int64(decimal: $0.trimmed) }
    }

    private mutating func device(_ draft: inout TraceDraft) -> Int? {
        if let place { return place }
        place = draft.inputDevice(name: name, vendor: maker, product: model, port: "input-\(devices)")
        if let place { draft.update(place) { $0.facts.add(abilities.properties) } }
        return place
    }
}
