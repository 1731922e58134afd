// `vectors.json5`: published messages of a device, and what its profile must make of each.
import WakeModel
import WakeProfiles

/// A message, or several that belong together, with the value of the last.
public struct Vector: Sendable {
    /// Where its bytes come from.
    public enum Origin: Hashable, Sendable {
        case channel(Channel)
        /// The data of one part of a broadcast.
        case part(AdvertisementPart)
    }

    /// The required outcome of its profile.
    public enum Outcome: Hashable, Sendable {
        case value(JSONValue)
        /// The message is delivered raw, with a reason that begins so.
        case fault(String)
        /// The message has no value, as a part of a longer one.
        case nothing
    }

    public var origin: Origin
    /// As they come: messages, or pieces of them where the stream has a framing.
    public var pieces: [[UInt8]]
    /// They are given as pieces, so a framing has to find the messages in them.
    package var isCut: Bool
    public var sender: DeviceMemory.Sender
    /// Continues after the vector before it, so much later; otherwise its device is a new one.
    public var pause: TimeSpan?
    public var outcome: Outcome
    /// The publisher, and the place.
    public var source: String
    /// Its place in the file, from 1.
    public var number: Int
}

extension Vector {
    static let keys = [
        "stream", "service_data", "manufacturer_data", "hex", "text", "pieces", "address", "key", "report_descriptor",
        "after", "value", "undecodable", "source",
    ]

    /// Reads a file: `{ vectors: [ … ] }`.
    /// - Throws: every fault of it, with its line.
    public static func read(_ text: [UInt8], file: String, kind: SourceKind) throws(ConfigurationErrors) -> [Vector] {
        let report = ConfigurationReport(file: file)
        let object = ConfigurationObject(document: text, keys: ["vectors"], required: ["vectors"], report: report)
        let entries = object?.objects("vectors", keys: keys, required: ["source"]) ?? []
        let vectors = entries.enumerated().compactMap { Vector($1, number: $0 + 1, kind: kind) }
        do throws(ConfigurationErrors) { try report.conclude() } catch { throw error.located(in: text) }
        return vectors
    }

    private init?(_ object: ConfigurationObject, number: Int, kind: SourceKind) {
        guard let origin = Self.origin(object, kind), let pieces = Self.pieces(object),
            let outcome = Self.outcome(object), let source = object.text("source")
        else { return nil }
        (self.origin, self.pieces, self.outcome, self.source, self.number) = (origin, pieces, outcome, source, number)
        isCut = object.has("pieces")
        if case .part(let part) = origin { Self.refuseLong(pieces, of: part, in: object) }
        sender = DeviceMemory.Sender(
            address: Self.address(object), key: object.hexadecimal("key"),
            reportDescriptor: object.hexadecimal("report_descriptor") ?? [])
        pause = object.span("after", in: .zero ... .seconds(86_400))
    }

    private static func origin(_ object: ConfigurationObject, _ kind: SourceKind) -> Origin? {
        let given = ["stream", "service_data", "manufacturer_data"].filter { object.has($0) }
        guard given.count == 1, let name = given.first, let text = object.text(name) else {
            object.add("\(object.path) needs one of stream, service_data and manufacturer_data")
            return nil
        }
        let origin: Origin? =
            switch name {
            case "service_data": BluetoothUUID(text).map { .part(.serviceData($0)) }
            case "manufacturer_data" where text == "any": .part(.anyManufacturerData)
            case "manufacturer_data": UInt16(text, radix: 16).map { .part(.manufacturerData($0)) }
            default: Channel(wireName: text).map { .channel($0) }
            }
        if origin == nil { object.refuse(name, expected: "a stream, a UUID or a company's number") }
        return origin
    }

    private static func pieces(_ object: ConfigurationObject) -> [[UInt8]]? {
        let given = ["hex", "text", "pieces"].filter { object.has($0) }
        guard given.count == 1 else {
            object.add("\(object.path) needs one of hex, text and pieces")
            return nil
        }
        if object.has("text") { return object.anyText("text").map { [Array($0.utf8)] } }
        if object.has("hex") { return object.hexadecimal("hex").map { [$0] } }
        let pieces = object.texts("pieces")?.map { [UInt8](hexadecimal: $0.filter { $0 != " " }) }
        guard let pieces, !pieces.isEmpty, pieces.allSatisfy({ $0 != nil }) else {
            object.refuse("pieces", expected: "a list of bytes in hexadecimal")
            return nil
        }
        return pieces.compactMap { $0 }
    }

    /// Refuses pieces that no advertisement can contain.
    private static func refuseLong(_ pieces: [[UInt8]], of part: AdvertisementPart, in object: ConfigurationObject) {
        for piece in pieces where part.structure(with: piece).isEmpty {
            object.add("\(object.path) has \(piece.count) bytes, more than a part of an advertisement can have")
        }
    }

    /// Six bytes; none where no address is given.
    private static func address(_ object: ConfigurationObject) -> [UInt8] {
        guard let text = object.text("address") else { return [] }
        if let bytes = [UInt8](hexadecimal: text.filter { $0 != ":" }), bytes.count == 6 { return bytes }
        object.refuse("address", expected: "six bytes in hexadecimal, such as \"A4:C1:38:0A:0B:0C\"")
        return []
    }

    private static func outcome(_ object: ConfigurationObject) -> Outcome? {
        if object.has("value"), object.has("undecodable") {
            object.add("\(object.path) has value and undecodable; keep one", at: "undecodable")
        }
        if object.has("undecodable") { return object.text("undecodable").map { .fault($0) } }
        guard let value = object.any("value") else {
            object.add("\(object.path) needs value or undecodable; value is null where the message has none")
            return nil
        }
        return value == .null ? .nothing : .value(value)
    }
}

extension ConfigurationObject {
    /// Spaces may separate bytes.
    fileprivate func hexadecimal(_ key: String) -> [UInt8]? {
        guard let text = anyText(key) else { return nil }
        let bytes = [UInt8](hexadecimal: text.filter { $0 != " " })
        if bytes == nil { refuse(key, expected: "bytes in hexadecimal") }
        return bytes
    }
}
