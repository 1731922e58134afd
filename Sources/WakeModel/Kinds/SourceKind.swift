// The kinds of source that can wake handlers, and what is particular to the devices of each.
import Synchronization

/// How a device reaches the bridge; also the mode that a handler must declare to be woken for it.
///
/// A value has all that the rest of the bridge must know of a kind, so that nothing switches over kinds.
public struct SourceKind: Sendable {
    /// The actions that an operator has on the session of a device.
    public enum SessionRule: Sendable {
        /// It has none: nothing can be paused or closed.
        case none
        /// It is open from the start.
        case switched
        /// It is open while the device is trusted.
        case trusted
    }

    /// The word in manifests, profiles, `status` and the journal.
    public let rawValue: String
    /// The word in traces.
    public let traceWord: String
    /// The prefix of the URIs of its devices, such as `/accessory/`.
    public let uriPrefix: String
    public let session: SessionRule
    /// The streams that its devices may have, beside characteristics and numbered reports.
    public let streams: [String]
    /// Another bridge has the devices: their events come with their values, and name profiles that may be unknown here.
    public let isRelayed: Bool

    /// - Parameters:
    ///   - traceWord: nil for the same word.
    ///   - streams: words of a-z, 0-9 and `-` that are no Bluetooth UUIDs.
    public init(
        _ word: String, traceWord: String? = nil, uriPrefix: String, session: SessionRule = .none,
        streams: [String] = [], isRelayed: Bool = false
    ) {
        rawValue = word
        self.isRelayed = isRelayed
        self.traceWord = traceWord ?? word
        self.uriPrefix = uriPrefix
        self.session = session
        self.streams = streams
    }

    /// Why events of its devices could not be kept, as a sentence; nil where all can.
    public var fault: String? {
        streams.map(\.utf8.count).first { $0 > Channel.longestName }.map { count in
            "source '\(rawValue)' names a stream with \(count) bytes, and \(Channel.longestName) are the most"
        }
    }

    /// A source that this program does not have, such as that of a later version: its devices keep their names.
    private init(unregistered word: String) {
        self.init(word, uriPrefix: "/\(word)/")
    }

    /// A peripheral that uses GATT.
    public static let bluetoothCentral = SourceKind(
        "bluetooth-central", traceWord: "bluetooth", uriPrefix: Device.bluetoothPrefix, session: .trusted)
    /// A device that udev announces, or one with a serial port over Bluetooth.
    public static let externalAccessory = SourceKind(
        "external-accessory", traceWord: "accessory", uriPrefix: "/accessory/", session: .switched,
        streams: ["serial", "input"])

    /// A device of another bridge.
    public static let remote = SourceKind("remote", uriPrefix: "/remote/", isRelayed: true)

    private static let registry = Mutex<[SourceKind]>([.bluetoothCentral, .externalAccessory, .remote])

    /// A source of another module makes its kind known, once, before anything is read that names it.
    public static func register(_ kind: SourceKind) {
        registry.withLock { kinds in if !kinds.contains(kind) { kinds.append(kind) } }
    }
}

extension SourceKind: Hashable {
    public static func == (left: SourceKind, right: SourceKind) -> Bool { left.rawValue == right.rawValue }
    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}

extension SourceKind: RawRepresentable, CaseIterable {
    /// All that are registered.
    public static var allCases: [SourceKind] { registry.withLock { $0 } }

    /// Nil for a word that no registered kind has.
    public init?(rawValue: String) {
        guard let kind = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = kind
    }

    /// The kind of what was kept under a word, which may be that of a source that this program does not have.
    public static func kept(_ word: String) -> SourceKind {
        SourceKind(rawValue: word) ?? SourceKind(unregistered: word)
    }
}
