// Says of each time that a strap was worn how fast the heart beat. While the strap's data flows, the process is not frozen
// between two beats: strap-diary.json5 is its manifest.
import WakeHandler

final class StrapDiary: PeripheralDelegate {
    private var rates: [Int] = []

    func session(
        _ session: BackgroundSession, flowDidChange change: FlowChange, for event: BackgroundEvent
    ) -> WorkResult {
        switch change.step {
        case .started:
            rates = []
            // Any other result would end the flow.
            return .pending
        case .interrupted, .ended:
            session.log("\(rates.count) beats, \(rates.reduce(0, +) / max(1, rates.count)) bpm on average")
            return .useful
        }
    }

    func peripheral(
        _ peripheral: Peripheral, didSend data: PeripheralData, for event: BackgroundEvent,
        in session: BackgroundSession
    ) -> WorkResult {
        guard let bpm = data.value?["bpm"]?.integer else { return .nothing }
        rates.append(bpm)
        return .useful
    }
}

BackgroundSession(delegate: StrapDiary()).run()
