// The least a handler in Swift is: prints each heart rate. docs/reference/swift-api.md shows it word for word.
import WakeHandler

final class BeatPrinter: AccessoryDelegate {
    func accessory(_ event: AccessoryEvent, didSend data: AccessoryData, in session: BackgroundSession) -> WorkResult {
        session.log("\(data.value?["bpm"]?.integer ?? 0) bpm")
        // Acknowledged; .retry(after:) gives it back, .pending lets you finish it later.
        return .useful
    }
}

BackgroundSession(delegate: BeatPrinter()).run()
