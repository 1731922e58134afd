// The head of an answer, line by line as it arrives: its status and the few headers that decide.
import WakeModel

public struct ResponseHead: Hashable, Sendable {
    public private(set) var status: Int64 = 0
    public private(set) var contentRange: ContentRange?
    public private(set) var isMultipart = false
    public private(set) var etag: String?
    public private(set) var lastModified: String?
    public private(set) var retryAfter: String?
    /// As much of it as is passed on.
    public private(set) var challenge: String?
    /// The empty line that ends it has come.
    public private(set) var isWhole = false
    private var length = BodyLength.unsaid
    private var codings: [ContentCoding] = []
    private var mediaType = ""
    private var bytes = 0
    private var lines = 0

    /// More than these is no answer, but an attack.
    public static let mostBytes = 64 << 10
    public static let mostLines = 256
    /// Longer ones name no version.
    static let longestValidator = 1_024
    static let longestChallenge = 512

    public init() {}

    /// Nil if the end of the body determines it, and if no length can be read.
    public var contentLength: Int64? { if case .said(let length) = length { length } else { nil } }
    /// Nobody knows where the body ends.
    public var isContradictory: Bool { length == .contradictory }

    /// Whether the body is no file of that address, but a compressed form of it.
    public func isCompressed(from address: String) -> Bool {
        codings.contains { !$0.isOfFile(at: address, ofType: mediaType) }
    }

    /// False where the head is longer than any may be.
    public mutating func add(_ line: some Collection<UInt8>) -> Bool {
        bytes += line.count
        lines += 1
        guard bytes <= Self.mostBytes, lines <= Self.mostLines else { return false }
        let text = String(decoding: line, as: UTF8.self).trimmed
        if text.hasPrefix("HTTP/") {
            // The head of another answer: the one before had a 1xx status, or was a proxy's.
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
        case "content-length": length.add(value)
        case "transfer-encoding": length = .ofCoding
        case "content-range": contentRange = ContentRange(value)
        case "content-encoding":
            codings += value.lowercased().split(separator: ",").compactMap { ContentCoding(String($0).trimmed) }
        case "content-type":
            mediaType = String(value.lowercased().prefix { $0 != ";" }).trimmed
            isMultipart = mediaType == "multipart/byteranges"
        case "etag": etag = value
        case "last-modified": lastModified = value
        case "retry-after": retryAfter = value
        case "www-authenticate": challenge = challenge ?? String(value.unicodeScalars.prefix(Self.longestChallenge))
        default: break
        }
    }

    /// The server's name for this version of the file; nil if it gives none.
    public var validator: PartValidator? {
        if let etag, etag.hasPrefix("\""), (3...Self.longestValidator).contains(etag.utf8.count) { return .etag(etag) }
        return lastModified.flatMap { $0.utf8.count <= Self.longestValidator ? .date($0) : nil }
    }
}

/// How the end of a body is known, by RFC 9112, 6.3.
enum BodyLength: Hashable, Sendable {
    case unsaid
    case said(Int64)
    /// The transfer coding has an end of its own, whatever length is named beside it.
    case ofCoding
    /// Two lengths, which differ.
    case contradictory

    /// Takes a further `Content-Length`, or several in one line. The same number again is no fault.
    mutating func add(_ value: String) {
        for number in value.split(separator: ",") {
            guard let found = Int64(saturating: String(number).trimmed) else { continue }
            switch self {
            case .unsaid: self = .said(found)
            case .said(let earlier): if earlier != found { self = .contradictory }
            case .ofCoding, .contradictory: return
            }
        }
    }
}

extension Int64 {
    /// Reads digits. A number that does not fit counts as the largest that does, not as a missing one.
    init?(saturating digits: some StringProtocol) {
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        self = Int64(digits) ?? .max
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
        let total = Int64(saturating: halves[1])
        guard total != nil || halves[1] == "*" else { return nil }
        if halves[0] == "*" {
            self = .none(total: total)
            return
        }
        let range = halves[0].split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        let ends = range.map { Int64(saturating: String($0).trimmed) }
        guard ends.count == 2, let from = ends[0], let through = ends[1], through >= from, through < total ?? .max
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
