// The same as BeatPrinter, with a closure for the events. docs/reference/swift-api.md shows it word for word.
import WakeHandler

struct HeartRate: Decodable { let bpm: Int }

let session = BackgroundSession()
try await session.process { event in
    guard case .peripheral(_, .data(let data)) = event.kind else { return }
    // The battery has no rate.
    guard let rate = try? data.value?.decode(as: HeartRate.self) else { return }
    session.log("\(rate.bpm) bpm")
}
