// The least a handler in Swift is: prints each heart rate. docs/reference/swift-api.md shows it word for word.
import WakeHandler

final class BeatPrinter: PeripheralDelegate {
    func peripheral(
        _ peripheral: Peripheral, didSend data: PeripheralData, for event: BackgroundEvent,
        in session: BackgroundSession
    ) -> WorkResult {
        session.log("\(data.value?["bpm"]?.integer ?? 0) bpm")
        // Acknowledged; .retry(after:) gives it back, .pending lets you finish it later.
        return .useful
    }
}

BackgroundSession(delegate: BeatPrinter()).run()
