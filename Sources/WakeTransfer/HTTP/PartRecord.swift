// The record of a file that is on its way: written beside its part, after the part's bytes are on the disk.
import WakeModel

/// A server's name for one version of a file.
public enum PartValidator: Hashable, Sendable {
    /// A strong one, with its quotes.
    case etag(String)
    /// As the server wrote it.
    case date(String)

    /// For `If-Range`.
    public var text: String {
        switch self {
        case .etag(let text), .date(let text): text
        }
    }
}

public struct PartRecord: Hashable, Sendable {
    public enum Phase: Hashable, Sendable {
        case moving
        /// Whole and right; only its name is missing.
        case placing(TransferResult)
        case ended(TransferResult)
    }

    public var number: Int64
    public var address: String
    public var phase = Phase.moving
    /// The bytes of the part that are surely on the disk.
    public var offset: Int64 = 0
    public var validator: PartValidator?
    public var total: Int64?

    public init(number: Int64, address: String) { (self.number, self.address) = (number, address) }

    /// The part is of no use any more.
    public mutating func restart() { (offset, validator, total) = (0, nil, nil) }

    /// The headers that request the missing bytes.
    public var requestHeaders: [String] {
        guard offset > 0, let validator else { return [] }
        return ["Range: bytes=\(offset)-", "If-Range: \(validator.text)"]
    }

    public var bytes: [UInt8] {
        JSONWriter.line { writer in
            writer.field("number", number)
            writer.field("url", address)
            writer.field("offset", offset)
            switch validator {
            case .etag(let text): writer.field("etag", text)
            case .date(let text): writer.field("modified", text)
            case nil: break
            }
            if let total { writer.field("total", total) }
            switch phase {
            case .moving: break
            case .placing(let result): writer.object("placing") { result.write(into: &$0) }
            case .ended(let result): writer.object("ended") { result.write(into: &$0) }
            }
        }
    }

    /// Nil for bytes that this program did not write.
    public init?(_ bytes: [UInt8]) {
        guard let value = try? JSONValue(parsing: bytes), let number = value["number"]?.integer, number > 0,
            let address = value["url"]?.string, let offset = value["offset"]?.integer, offset >= 0
        else { return nil }
        self.init(number: number, address: address)
        self.offset = offset
        validator = value["etag"]?.string.map { .etag($0) } ?? value["modified"]?.string.map { .date($0) }
        total = value["total"]?.integer
        if let result = value["ended"].flatMap({ TransferResult($0) }) {
            phase = .ended(result)
        } else if let result = value["placing"].flatMap({ TransferResult($0) }) {
            phase = .placing(result)
        }
    }
}
