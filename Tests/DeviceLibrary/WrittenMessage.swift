// A message as a device writes it on a line: with its marks and its escapes.
import WakeModel

extension Framing {
    /// The bytes of which the framing makes this message again. SLIP and COBS add only their end: no shipped device uses them.
    package func written(_ message: [UInt8]) -> [UInt8] {
        switch self {
        case .line: message + Self.lineEnd
        case .delimiter(let mark): message + mark
        case .slip: message + [0xc0]
        case .cobs: message + [0]
        case .hdlc: [0x7e] + message.flatMap { $0 == 0x7d || $0 == 0x7e ? [0x7d, $0 ^ 0x20] : [$0] } + [0x7e]
        case .marked(let forms): message + (forms.first { message.starts(with: $0.start) }?.rest.end ?? [])
        case .none, .lengthPrefix, .fixed, .idle: message
        }
    }

    fileprivate static let lineEnd: [UInt8] = [0x0d, 0x0a]
}

extension Framing.Marked.Rest {
    /// Bytes behind a message that are not part of it.
    fileprivate var end: [UInt8] {
        switch self {
        case .line: Framing.lineEnd
        case .delimiter(let mark, let tail): tail == nil ? mark : []
        case .fixed, .length: []
        }
    }
}
