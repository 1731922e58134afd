// Prints heart rates and keeps their count over launches; a summary every minute runs under a background task.
import WakeHandler

final class HeartRateLogger: PeripheralDelegate {
    /// The text that a later process continues with.
    private struct Count: Codable {
        var beats = 0
        var lastID: String?
    }

    private var count = Count()

    func session(_ session: BackgroundSession, wasRestored restoration: Restoration) {
        do { count = try restoration.checkpoint(as: Count.self) ?? Count() } catch {
            session.log("the count begins again: \(error)", level: .warning)
        }
    }

    func peripheralDidConnect(
        _ peripheral: Peripheral, for event: BackgroundEvent, in session: BackgroundSession
    ) -> WorkResult {
        session.log("\(peripheral) is here")
        return .useful
    }

    func peripheralDidDisconnect(
        _ peripheral: Peripheral, reason: DisconnectReason, for event: BackgroundEvent, in session: BackgroundSession
    ) -> WorkResult {
        session.log("\(peripheral) is gone: \(reason)")
        return .useful
    }

    func peripheral(
        _ peripheral: Peripheral, didSend data: PeripheralData, for event: BackgroundEvent,
        in session: BackgroundSession
    ) -> WorkResult {
        guard let bpm = data.value?["bpm"]?.integer else { return .nothing }
        // Counted by an earlier process, but its acknowledgement was lost with that process.
        guard event.id != count.lastID else { return .nothing }
        count = Count(beats: count.beats + 1, lastID: event.id)
        session.log("\(peripheral): \(bpm) bpm")
        if count.beats % 60 == 0 { summarise(in: session) }
        // Kept with the acknowledgement that follows it, so that count and events cannot fall apart.
        do { try session.checkpoint(count) } catch { return .retry(after: nil) }
        return .useful
    }

    func peripheral(
        _ peripheral: Peripheral, didLose gap: EventGap, for event: BackgroundEvent, in session: BackgroundSession
    ) -> WorkResult {
        session.log("\(peripheral): \(gap.count.map(String.init) ?? "some") events lost (\(gap.cause))")
        return .useful
    }

    private func summarise(in session: BackgroundSession) {
        let task = session.beginBackgroundTask(named: "summary") {
            session.log("no time for the summary", level: .warning)
        }
        session.log("\(count.beats) beats so far")
        task.end()
    }
}
