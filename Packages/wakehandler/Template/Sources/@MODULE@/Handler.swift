// What the handler does with each event.
import WakeHandler

/// The fields of the profile's value that this handler needs.
struct HeartRate: Decodable {
    let bpm: Int
}

@MainActor
func handle(_ session: BackgroundSession) async {
    for await event in session.events {
        session.finish(event, work(on: event, session))
    }
}

/// Store first, return then: what you return as done never comes again. What you don't finish comes again.
@MainActor
func work(on event: AccessoryEvent, _ session: BackgroundSession) -> WorkResult {
    switch event.kind {
    case .data(let data):
        guard let rate = try? data.value?.decode(as: HeartRate.self) else { return .nothing }
        session.log("\(event.time) \(event.device): \(rate.bpm) bpm")
        return .useful
    case .gap(let gap):
        session.log("\(event.device): \(gap.count.map { "\($0)" } ?? "some") events lost (\(gap.cause))")
        return .useful
    case .disconnected(let reason, _):
        session.log("\(event.device) is gone: \(reason)")
        return .useful
    case .connected, .attention, .unknown:
        return .nothing
    }
}
