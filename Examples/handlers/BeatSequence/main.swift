// The same as BeatPrinter, with events as a sequence. It stands in docs/handlers.md word for word.
import WakeHandler

struct HeartRate: Decodable { let bpm: Int }

let session = BackgroundSession()
for await event in session.events {
    guard case .data(let data) = event.kind, let rate = try? data.value?.decode(as: HeartRate.self) else {
        session.finish(event, .nothing)
        continue
    }
    session.log("\(rate.bpm) bpm")
    session.finish(event, .useful)
}
