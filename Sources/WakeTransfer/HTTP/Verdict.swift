// The effect of an answer on the bytes on the disk: whether its body is appended, written over them, or not wanted.
import WakeModel

public enum Verdict: Hashable, Sendable {
    /// The body is written from here on, and the whole will be of `total` bytes. Bytes beyond are cut off.
    case write(at: Int64, total: Int64?)
    /// The server has no more bytes than the part.
    case complete
    /// The part is of no use: it is requested from its beginning.
    case restart
    /// The server has taken it.
    case accepted
    /// To where the `Location` leads.
    case redirect
    case challenge(realm: String)
    /// It may be better later.
    case retry(after: String?)
    case fail(TransferFailure)
}

extension Verdict {
    /// The verdict on a download.
    public init(_ head: ResponseHead, having part: PartRecord) {
        switch head.status {
        case 200, 203, 206: self = Self.ofFile(head, part)
        // No other answer carries the file: 202 promises it, 204 has none.
        case 416: self = Self.ofNoRange(head, part)
        case 301, 302, 303, 307, 308: self = .redirect
        default: self = Self.ofRefusal(head)
        }
    }

    /// The verdict on an upload, which cannot be resumed: it is made again from its beginning.
    public init(ofUpload head: ResponseHead) {
        switch head.status {
        case 200...299: self = .accepted
        // The others would make a GET of it.
        case 307, 308: self = .redirect
        case 300...399: self = .fail(.redirect)
        default: self = Self.ofRefusal(head)
        }
    }

    private static func ofFile(_ head: ResponseHead, _ part: PartRecord) -> Verdict {
        if head.isContradictory { return .fail(.head) }
        if head.isCompressed(from: part.address) { return .fail(.encoded) }
        return head.status == 206 ? ofPart(head, part) : .write(at: 0, total: head.contentLength)
    }

    /// Only bytes that continue the part are of use, and only those of its version.
    private static func ofPart(_ head: ResponseHead, _ part: PartRecord) -> Verdict {
        guard !head.isMultipart, case .part(let from, _, let total)? = head.contentRange, from <= part.offset else {
            return .restart
        }
        if let known = part.validator, let now = head.validator, known != now, from > 0 { return .restart }
        if let known = part.total, let total, known != total, from > 0 { return .restart }
        // The end of such an answer need not be the end of the file.
        guard let whole = total ?? (from > 0 ? part.total : nil) else { return .restart }
        return .write(at: from, total: whole)
    }

    private static func ofNoRange(_ head: ResponseHead, _ part: PartRecord) -> Verdict {
        guard part.offset > 0 else { return .fail(.status) }
        guard case .none(let total?)? = head.contentRange, total == part.offset else { return .restart }
        if let known = part.validator, let now = head.validator, known != now { return .restart }
        return .complete
    }

    private static func ofRefusal(_ head: ResponseHead) -> Verdict {
        switch head.status {
        case 401: .challenge(realm: head.challenge ?? "")
        case 0, 408, 425, 429, 500, 502, 503, 504: .retry(after: head.retryAfter)
        default: .fail(.status)
        }
    }
}

/// The meaning of a body's end.
public enum BodyEnd: Hashable, Sendable {
    case whole
    case cut

    /// - Parameters:
    ///   - isClean: the connection ended as the answer announced.
    ///   - have: how many bytes there are in all.
    public init(isClean: Bool, have: Int64, total: Int64?) {
        if let total { self = have == total ? .whole : .cut } else { self = isClean ? .whole : .cut }
    }
}

/// Whether a file system has room for the announced bytes.
public enum TransferRoom {
    /// The bytes that stay free in any case.
    static let least: Int64 = 100 << 20

    /// - Parameter wanted: the bytes that are still to come; nil if the server does not give them.
    public static func has(_ wanted: Int64?, available: UInt64, of total: UInt64) -> Bool {
        let kept = max(total / 20, UInt64(least))
        guard available >= kept else { return false }
        return UInt64(max(0, wanted ?? 0)) <= available - kept
    }

    /// If there is no room now: whether others take it up, and may leave it again. A file that can never have room, or
    /// one whose own bytes fill the disk, is not waited for.
    /// - Parameters:
    ///   - whole: the length of the file; nil if the server does not give it.
    ///   - have: the bytes of it that are on the disk.
    public static func mayCome(
        for whole: Int64?, having have: Int64, available: UInt64, of total: UInt64
    ) -> Bool {
        if let whole { return have <= whole && has(whole, available: total, of: total) }
        return !has(nil, available: available + UInt64(max(0, have)), of: total)
    }
}
