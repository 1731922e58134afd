// The value of a batch of input events without a field list: the numbers of every event, in order.
import WakeModel

/// The raw form of a batch is 8 bytes an event, little-endian: type (2), code (2), value (4, signed). The SYN_REPORT
/// that ends a batch is left out, and so are times: the event of the batch has one.
enum InputEventList {
    private static let width = 8

    /// Appends `{"events":[[type,code,value],…]}`.
    static func run(over bytes: [UInt8], into json: inout [UInt8]) throws(DecodeFault) {
        guard bytes.count.isMultiple(of: width) else { throw DecodeFault.notEvents(count: bytes.count) }
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("events")
        writer.beginArray()
        for start in stride(from: 0, to: bytes.count, by: width) {
            writer.beginArray()
            writer.integer(UInt16(truncatingIfNeeded: number(bytes[start..<(start + 2)])))
            writer.integer(UInt16(truncatingIfNeeded: number(bytes[(start + 2)..<(start + 4)])))
            writer.integer(Int32(truncatingIfNeeded: number(bytes[(start + 4)..<(start + 8)])))
            writer.endArray()
        }
        writer.endArray()
        writer.endObject()
        json.append(contentsOf: writer.bytes)
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
