// Reads gatttool's output: values by their handles, without times, and the characteristics where they were listed.
import WakeHCI
import WakeModel

struct GatttoolFollower: LineFollower {
    private let pace: ImportPace
    private var address: RadioAddress?
    private var place: Int?

    init(_ terms: ImportTerms) { pace = terms.pace }

    /// The last output is a prompt that waits.
    static func isWhole(_ line: ArraySlice<UInt8>) -> Bool { line.isPrompt }

    mutating func read(_ line: ArraySlice<UInt8>, at offset: Int, into draft: inout TraceDraft) throws(ImportError) {
        let line = line.withoutStyle
        if let text = line.after("[") ?? line.after("Attempting to connect to ") {
            address = RadioAddress(text.prefix(17).text) ?? address
        }
        if let start = line.place(of: "char value handle"), let uuid = line.place(of: "uuid") {
            return declare(line[start...], line[uuid...], &draft)
        }
        let isIndication = line.contains("Indication ")
        guard isIndication || line.contains("Notification "), let start = line.place(of: "handle = ") else { return }
        var words = LineWords(line[(start + 9)...])
        guard let handle = words.hexadecimal().flatMap({ UInt16(exactly: $0) }),
            words.next()?.elementsEqual("value:".utf8) == true, let bytes = words.bytes(most: 512)
        else {
            throw ImportError(offset: offset, reason: "no handle and bytes in hexadecimal stand in the value there")
        }
        draft.advance(by: pace.step)
        draft.counts.records += 1
        if isIndication { draft.counts.indications += 1 } else { draft.counts.notifications += 1 }
        if let place = device(&draft) { draft.add(bytes[...], of: .handle(handle), from: place) }
    }

    /// `char value handle: 0x0011, uuid: 00002a37-…`, or with `=`.
    private mutating func declare(
        _ handle: ArraySlice<UInt8>, _ uuid: ArraySlice<UInt8>, _ draft: inout TraceDraft
    ) {
        guard let digits = handle.place(of: "0x"),
            let number = UInt64(hexadecimal: handle[digits...].prefix(6)).flatMap({ UInt16(exactly: $0) }),
            let name = BluetoothUUID(uuid.dropFirst(4).drop { " :=".utf8.contains($0) }.trimmed.text),
            let place = device(&draft)
        else { return }
        draft.update(place) { $0.declare(number, name) }
    }

    private mutating func device(_ draft: inout TraceDraft) -> Int? {
        if let place { return place }
        draft.advance(by: .zero)
        place = draft.peripheral(address ?? RadioAddress(number: 0))
        draft.counts.links += 1
        if let place { draft.connect(place) }
        return place
    }
}
