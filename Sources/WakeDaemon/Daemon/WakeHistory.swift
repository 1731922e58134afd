// Why wakes did not happen: the latest reasons of each handler, for `why`.
import WakeCore
import WakeModel

final class WakeHistory: DecisionListener {
    struct Entry {
        var time: WallTime
        var sentence: String
    }

    private var entries: [HandlerID: [Entry]] = [:]
    private var deliveries: [HandlerID: UInt64] = [:]
    private static let entriesKept = 32

    func hear(_ decision: Decision, of handler: HandlerID, at stamp: Stamp) {
        switch decision {
        case .notWoken(let sequence, let reason):
            add("event \(sequence.rawValue) did not wake it: \(reason.rawValue)", handler, stamp)
        case .held(_, let because): add("held after: \(because)", handler, stamp)
        case .struck(let strikes): add("strike \(strikes): it overran its budget without an acknowledgement", handler, stamp)
        case .deadLettered(let sequence): add("event \(sequence.rawValue) was dead-lettered", handler, stamp)
        case .moved(_, let to, let because) where to == .stopped || to == .quarantined:
            add("\(to.rawValue): \(because)", handler, stamp)
        case .delivered(_, _, let count): deliveries[handler, default: 0] += UInt64(count)
        case .moved, .acknowledged, .refused, .charged, .lost, .began, .ended, .faulted: break
        }
    }

    func latest(_ handler: HandlerID) -> [Entry] { entries[handler] ?? [] }
    func deliveryCount(_ handler: HandlerID) -> UInt64 { deliveries[handler] ?? 0 }

    private func add(_ sentence: String, _ handler: HandlerID, _ stamp: Stamp) {
        var list = entries[handler] ?? []
        list.append(Entry(time: stamp.wall, sentence: sentence))
        if list.count > Self.entriesKept { list.removeFirst() }
        entries[handler] = list
    }
}
