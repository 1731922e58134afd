// The head of an answer, line by line as it arrives: its status and the few headers that decide.
import WakeModel

public struct ResponseHead: Hashable, Sendable {
    public private(set) var status: Int64 = 0
    public private(set) var contentLength: Int64?
    public private(set) var contentRange: ContentRange?
    public private(set) var isEncoded = false
    public private(set) var isMultipart = false
    public private(set) var etag: String?
    public private(set) var lastModified: String?
    public private(set) var retryAfter: String?
    /// As much of it as is passed on.
    public private(set) var challenge: String?
    /// The empty line that ends it has come.
    public private(set) var isWhole = false
    private var bytes = 0
    private var lines = 0

    /// More than these is no answer, but an attack.
    public static let mostBytes = 64 << 10
    public static let mostLines = 256
    /// Longer ones name no version.
    static let longestValidator = 1_024
    static let longestChallenge = 512

    public init() {}

    /// False where the head is longer than any may be.
    public mutating func add(_ line: some Collection<UInt8>) -> Bool {
        bytes += line.count
        lines += 1
        guard bytes <= Self.mostBytes, lines <= Self.mostLines else { return false }
        let text = String(decoding: line, as: UTF8.self).trimmed
        if text.hasPrefix("HTTP/") {
            // The head of another answer: what came before was a hundred and something, or of a proxy.
            let (bytes, lines) = (bytes, lines)
            self = ResponseHead()
            (self.bytes, self.lines) = (bytes, lines)
            status = text.split(separator: " ").dropFirst().first.flatMap { Int64($0) } ?? 0
        } else if text.isEmpty {
            isWhole = true
        } else if let colon = text.firstIndex(of: ":") {
            read(text[..<colon].lowercased(), String(text[text.index(after: colon)...]).trimmed)
        }
        return true
    }

    private mutating func read(_ name: String, _ value: String) {
        switch name {
        case "content-length": contentLength = Int64(value).flatMap { $0 < 0 ? nil : $0 }
        case "content-range": contentRange = ContentRange(value)
        case "content-encoding": isEncoded = !["", "identity"].contains(value.lowercased())
        case "content-type": isMultipart = value.lowercased().hasPrefix("multipart/byteranges")
        case "etag": etag = value
        case "last-modified": lastModified = value
        case "retry-after": retryAfter = value
        case "www-authenticate": challenge = challenge ?? String(value.unicodeScalars.prefix(Self.longestChallenge))
        default: break
        }
    }

    /// What tells this version of the file from others; nil where the server names nothing that does.
    public var validator: PartValidator? {
        if let etag, etag.hasPrefix("\""), (3...Self.longestValidator).contains(etag.utf8.count) { return .etag(etag) }
        return lastModified.flatMap { $0.utf8.count <= Self.longestValidator ? .date($0) : nil }
    }
}

/// `bytes 100-199/200`, `bytes */200`.
public enum ContentRange: Hashable, Sendable {
    case part(from: Int64, through: Int64, total: Int64?)
    case none(total: Int64?)

    init?(_ text: String) {
        let words = text.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let halves = words[1].split(separator: "/", maxSplits: 1).map { String($0).trimmed }
        guard halves.count == 2 else { return nil }
        let total = Int64(halves[1])
        guard total.map({ $0 >= 0 }) ?? (halves[1] == "*") else { return nil }
        if halves[0] == "*" {
            self = .none(total: total)
            return
        }
        let range = halves[0].split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        let ends = range.map { Int64(String($0).trimmed) }
        guard ends.count == 2, let from = ends[0], let through = ends[1], from >= 0, through >= from,
            through < total ?? .max
        else { return nil }
        self = .part(from: from, through: through, total: total)
    }
}

extension String {
    var trimmed: String {
        let isSpace = { (character: Character) in character.isWhitespace }
        return String(drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }
}
