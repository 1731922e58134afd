// Cuts a stream of bytes into messages: pure, so that it is proved without a device that nothing is lost in it.
import WakeModel

/// A message or a fragment, made of bytes. Exactly one frame contains each byte that is no part of the framing, in the
/// order of arrival.
public enum Frame: Hashable, Sendable {
    /// Whole, without its framing, unescaped; never empty.
    case message([UInt8])
    /// Bytes that form no message, as they came, and why; never longer than the limit.
    case fragment([UInt8], FramingFault)
}

/// Empty messages, such as empty lines, are none: the space between two ends wakes no handler.
public struct Framer: Sendable {
    private var cutter: any FrameCutter
    /// Arrival of the first byte that no frame contains yet; nil if there is none.
    public private(set) var openSince: Instant?

    /// `limit` is the longest message in bytes. Messages of a fixed length are as long as they are.
    /// - Parameter trial: detects a damaged message, in which the framer then looks for whole ones.
    public init(_ framing: Framing, limit: Int, trial: MessageTrial? = nil) {
        let limit = max(1, limit)
        switch framing {
        case .none: cutter = DrainCutter(limit: limit)
        case .line: cutter = DelimiterCutter(lineLimit: limit, trial: trial)
        case .delimiter(let mark): cutter = DelimiterCutter(mark: mark, limit: limit, trial: trial)
        case .lengthPrefix(let form):
            cutter = MarkedCutter([.init(start: form.start, rest: .length(form))], limit: limit, trial: trial)
        case .fixed(let length):
            let length = max(1, length)
            cutter =
                trial == nil
                ? FixedCutter(length: length)
                : MarkedCutter([.init(start: [], rest: .fixed(length))], limit: length, trial: trial)
        case .idle(let gap): cutter = IdleCutter(gap: gap, limit: limit, trial: trial)
        case .slip: cutter = StuffingCutter(.slip, limit: limit, trial: trial)
        case .cobs: cutter = StuffingCutter(.cobs, limit: limit, trial: trial)
        case .hdlc: cutter = StuffingCutter(.hdlc, limit: limit, trial: trial)
        case .marked(let forms): cutter = MarkedCutter(forms, limit: limit, trial: trial)
        }
    }

    /// When ``tick(at:)`` is due; nil while no silence is waited for.
    public var deadline: Instant? { cutter.deadline }

    /// Returns the frames that `bytes`, read at `now`, complete. The division of a stream into calls does not change
    /// its frames; only without framing is a call a message.
    /// - Parameter end: when the last of them had been read; silence may begin then.
    public mutating func append(_ bytes: ArraySlice<UInt8>, at now: Instant, readBy end: Instant) -> [Frame] {
        var frames: [Frame] = []
        cutter.append(bytes, readBy: end, into: &frames)
        // The open ones are the last that came.
        let open = cutter.openCount
        openSince = open == 0 ? nil : open <= bytes.count ? now : openSince ?? now
        return frames
    }

    /// Returns the frames that the silence until `now` completes. Read first whatever there is: only then it was
    /// silent.
    public mutating func tick(at now: Instant) -> [Frame] {
        var frames: [Frame] = []
        cutter.tick(at: now, into: &frames)
        if cutter.openCount == 0 { openSince = nil }
        return frames
    }

    /// Returns the rest when the device goes, and begins anew.
    public mutating func end() -> [Frame] {
        var frames: [Frame] = []
        cutter.end(into: &frames)
        openSince = nil
        return frames
    }
}

/// A way to cut. Only one that waits for silence has a deadline.
protocol FrameCutter: Sendable {
    var deadline: Instant? { get }
    /// Number of the last bytes that no frame contains yet.
    var openCount: Int { get }
    mutating func append(_ bytes: ArraySlice<UInt8>, readBy end: Instant, into frames: inout [Frame])
    mutating func tick(at now: Instant, into frames: inout [Frame])
    mutating func end(into frames: inout [Frame])
}

extension FrameCutter {
    var deadline: Instant? { nil }
    func tick(at now: Instant, into frames: inout [Frame]) {}
}
