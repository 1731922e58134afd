// Counts the events of one device in few bytes: there may be a hundred thousand devices.
import WakeModel

struct DeviceCounts: Hashable, Sendable {
    private(set) var data: UInt64 = 0
    private(set) var connects: UInt32 = 0
    private(set) var disconnects: UInt32 = 0
    private(set) var attentions: UInt32 = 0
    private(set) var gaps: UInt32 = 0
    /// Events that no handler was to get.
    private(set) var unwatched: UInt64 = 0

    /// Leaves out gaps, which mean missing events.
    var events: UInt64 { data + UInt64(connects) + UInt64(disconnects) + UInt64(attentions) }

    var byKind: [(kind: String, count: UInt64)] {
        [
            ("data", data), ("connected", UInt64(connects)), ("disconnected", UInt64(disconnects)),
            ("attention", UInt64(attentions)),
        ]
    }

    mutating func count(_ kind: DeviceEvent.Kind, isWatched: Bool) {
        switch kind {
        case .data: data += 1
        case .connected: connects &+= 1
        case .disconnected: disconnects &+= 1
        case .attention: attentions &+= 1
        case .gap: gaps &+= 1
        case .occasion: break
        }
        if !isWatched { unwatched += 1 }
    }

    mutating func add(_ other: DeviceCounts) {
        data += other.data
        connects &+= other.connects
        disconnects &+= other.disconnects
        attentions &+= other.attentions
        gaps &+= other.gaps
        unwatched += other.unwatched
    }
}
