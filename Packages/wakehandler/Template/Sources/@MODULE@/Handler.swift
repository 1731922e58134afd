// What the handler does with each event.
import WakeHandler

/// The fields of the profile's value that this handler needs.
struct HeartRate: Decodable {
    let bpm: Int
}

/// Store first, return then: what returns never comes again. What throws comes again.
@MainActor
func work(on event: BackgroundEvent, _ session: BackgroundSession) async throws {
    switch event.kind {
    case .peripheral(let strap, .data(let data)):
        // Values without a rate, such as the battery's level, are acknowledged without a line.
        guard let rate = try? data.value?.decode(as: HeartRate.self) else { return }
        session.log("\(event.time) \(strap): \(rate.bpm) bpm")
    case .peripheral(let strap, .gap(let gap)):
        session.log("\(strap): \(gap.count.map { "\($0)" } ?? "some") events lost (\(gap.cause))", level: .warning)
    case .peripheral(let strap, .disconnected(let reason, _)):
        session.log("\(strap) is gone: \(reason)")
    case .accessory(let accessory, .data(let data)):
        if let value = data.value { session.log("\(accessory): \(value)") }
    default:
        break
    }
}
