// Writes pcapng: one section with one interface of HCI and its direction, as Wireshark reads it.
import WakeModel

struct PcapngWriter {
    /// HCI behind four bytes for the direction.
    private static let link: UInt32 = 201

    private(set) var bytes: [UInt8] = []
    private(set) var count = 0

    init() {
        add(block: 0x0a0d_0d0a, [0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0] + [UInt8](repeating: 0xff, count: 8))
        add(block: 1, Self.little(Self.link) + [0, 0, 0, 0])
    }

    /// Times are microseconds, which need no option.
    mutating func add(_ packet: some Collection<UInt8>, isReceived: Bool, at time: WallTime) {
        let stamp = UInt64(bitPattern: time.microseconds)
        let length = Self.little(UInt32(packet.count + 4))
        let times =
            Self.little(UInt32(truncatingIfNeeded: stamp >> 32)) + Self.little(UInt32(truncatingIfNeeded: stamp))
        let direction: [UInt8] = [0, 0, 0, isReceived ? 1 : 0]
        add(block: 6, [0, 0, 0, 0] + times + length + length + direction + packet)
        count += 1
    }

    private mutating func add(block kind: UInt32, _ body: [UInt8]) {
        let padding = (4 - body.count % 4) % 4
        let length = Self.little(UInt32(body.count + padding + 12))
        bytes += Self.little(kind)
        bytes += length
        bytes += body
        bytes += repeatElement(0, count: padding)
        bytes += length
    }

    private static func little(_ number: UInt32) -> [UInt8] {
        [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}

/// The file that an export makes.
public enum CaptureForm: String, CaseIterable, Sendable {
    case btsnoop, pcapng
}

/// The records of an export, in the requested form.
struct CaptureWriter {
    private let form: CaptureForm
    private var btsnoop = BtsnoopWriter(.h4)
    private var pcapng = PcapngWriter()

    init(_ form: CaptureForm) { self.form = form }

    var bytes: [UInt8] { form == .btsnoop ? btsnoop.bytes : pcapng.bytes }
    var count: Int { form == .btsnoop ? btsnoop.count : pcapng.count }

    /// `flags` as btsnoop has them: 1 for received packets, 2 for commands and events.
    mutating func add(_ packet: [UInt8], flags: UInt32, at time: WallTime) {
        switch form {
        case .btsnoop: btsnoop.add(packet, flags: flags, at: time)
        case .pcapng: pcapng.add(packet, isReceived: flags & 1 == 1, at: time)
        }
    }
}
