// The terms that a person sets for an import, and why an import ends.
import WakeModel

/// How fast time passes in a recording without times.
public struct ImportPace: Hashable, Sendable {
    /// Between values.
    public var step = TimeSpan.milliseconds(100)
    /// Bits a second of a serial line, ten for each byte.
    public var baud: Int64 = 9_600

    public init() {}

    func span(bytes: Int) -> TimeSpan { TimeSpan(nanoseconds: Int64(bytes) * 10_000_000_000 / max(baud, 1)) }
}

public struct ImportTerms: Hashable, Sendable {
    /// Keep the part before a fault, instead of ending with it.
    public var partial = false
    /// Make values of broadcasts that a host received. A capture of the air always has them.
    public var takesBroadcasts = false
    public var pace = ImportPace()
    /// The bytes are those of a serial line, whatever they look like.
    public var isSerial = false
    /// The alias of a device that the recording does not describe.
    public var alias: String?
    /// The name of an archive's file; nil for the first recording in it.
    public var member: String?

    public init() {}
}

/// Why a recording cannot be imported, and at which offset in bytes.
public struct ImportError: Error, Hashable, Sendable, CustomStringConvertible {
    public var offset: Int
    public var reason: String
    /// Whether nothing is wrong but that the recording ends there.
    public var isCut = false
    /// Whether later bytes cannot be understood without the faulty ones.
    var endsImport = false
    /// The part of the file in which the offset counts: a file of an archive, or the unpacked bytes.
    public var member: String?

    init(offset: Int, reason: String, isCut: Bool = false) {
        (self.offset, self.reason, self.isCut) = (offset, reason, isCut)
    }

    public var description: String { "at byte \(offset)\(member.map { " of \($0)" } ?? ""): \(reason)" }

    func within(_ member: String) -> ImportError {
        var error = self
        error.member = self.member ?? member
        return error
    }
}
