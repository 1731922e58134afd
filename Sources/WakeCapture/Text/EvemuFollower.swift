// evemu-record: a description of one input device, then an event a line.
import WakeModel
import WakeTrace

struct EvemuFollower: LineFollower {
    private var name: String?
    private var maker: UInt16?
    private var model: UInt16 = 0
    private var place: Int?
    private var gathering = InputGathering()
    private var abilities = InputAbilities()

    static func isWhole(_ line: ArraySlice<UInt8>) -> Bool { false }

    mutating func read(_ line: ArraySlice<UInt8>, at offset: Int, into draft: inout TraceDraft) throws(ImportError) {
        if let event = line.after("E: ") { return try readEvent(event, at: offset, into: &draft) }
        if let text = line.after("N: ") { name = text.trimmed.text }
        if let numbers = line.after("I: ") { readNumbers(numbers) }
        if let bits = line.after("B: ") { readBits(bits) }
        if let text = line.after("# Input device name: \"") { name = text.prefix { $0 != UInt8(ascii: "\"") }.text }
        if let words = line.after("# Input device ID: ") { readWords(words) }
    }

    mutating func finish(into draft: inout TraceDraft) throws(ImportError) {
        _ = device(&draft)
        if gathering.isOpen { draft.warn("the recording ends inside a batch of events, which is left out") }
    }

    /// `0003 0738 4716 0410`: bus, vendor, product, version.
    private mutating func readNumbers(_ line: ArraySlice<UInt8>) {
        var words = LineWords(line)
        _ = words.next()
        guard let vendor = words.hexadecimal(), let product = words.hexadecimal() else { return }
        (maker, model) = (UInt16(truncatingIfNeeded: vendor), UInt16(truncatingIfNeeded: product))
    }

    /// `01 fe ff ff ff ff ff ff ff`: a type of events, and eight bytes of its codes.
    private mutating func readBits(_ line: ArraySlice<UInt8>) {
        var words = LineWords(line)
        guard let type = words.hexadecimal().flatMap({ UInt16(exactly: $0) }), let bytes = words.bytes(most: 128) else {
            return
        }
        abilities.describe(type, bytes)
    }

    /// `bus 0x03 vendor 0x738 product 0x4716 version 0x410`.
    private mutating func readWords(_ line: ArraySlice<UInt8>) {
        var words = LineWords(line)
        while let word = words.next() {
            if word.elementsEqual("vendor".utf8) { maker = words.hexadecimal().map { UInt16(truncatingIfNeeded: $0) } }
            if word.elementsEqual("product".utf8) { model = UInt16(truncatingIfNeeded: words.hexadecimal() ?? 0) }
        }
    }

    /// Seconds, then type and code in hexadecimal, and the value in decimal.
    private mutating func readEvent(
        _ line: ArraySlice<UInt8>, at offset: Int, into draft: inout TraceDraft
    ) throws(ImportError) {
        var words = LineWords(line)
        guard let time = words.seconds(), let type = words.hexadecimal().flatMap({ UInt16(exactly: $0) }),
            let code = words.hexadecimal().flatMap({ UInt16(exactly: $0) }),
            let value = words.decimal().flatMap({ Int32(exactly: $0) })
        else {
            throw ImportError(
                offset: offset, reason: "no event of evemu: a time, type and code in hexadecimal, and a value")
        }
        draft.advance(to: time, at: offset)
        draft.counts.records += 1
        abilities.see(type, code)
        guard let place = device(&draft) else { return }
        // Up to the end of the first batch it may show its kind.
        if gathering.isFirst { draft.update(place) { $0.facts.add(abilities.properties) } }
        gathering.add(type, code, value, to: &draft, place)
    }

    private mutating func device(_ draft: inout TraceDraft) -> Int? {
        if let place { return place }
        place = draft.inputDevice(name: name, vendor: maker, product: model, port: "input")
        if let place { draft.update(place) { $0.facts.add(abilities.properties) } }
        return place
    }
}

extension TraceDraft {
    /// An input device with its link up.
    mutating func inputDevice(name: String?, vendor: UInt16?, product: UInt16, port: String) -> Int? {
        let identity = AccessoryName(vendor: vendor, product: product, port: port)
        if let known = known(.externalAccessory, identity.text) { return known }
        let place = device(.externalAccessory, identity.text) { facts in
            facts.name = name
            facts.properties = identity.properties
        }
        advance(by: .zero)
        if let place { connect(place) }
        return place
    }
}
