// Prints heart rates and keeps their count over launches; a summary every minute runs under a background task.
import WakeHandler

final class HeartRateLogger: AccessoryDelegate {
    private var beats = 0
    private var lastID: String?

    func session(_ session: BackgroundSession, wasRestored restoration: Restoration) {
        let parts = (restoration.checkpoint ?? "").split(separator: " ")
        beats = parts.first.flatMap { Int($0) } ?? 0
        lastID = parts.last.map(String.init)
    }

    func accessoryDidConnect(_ event: AccessoryEvent, in session: BackgroundSession) -> WorkResult {
        session.log("\(event.device) is here")
        return .useful
    }

    func accessoryDidDisconnect(
        _ event: AccessoryEvent, reason: DisconnectReason, in session: BackgroundSession
    ) -> WorkResult {
        session.log("\(event.device) is gone: \(reason)")
        return .useful
    }

    func accessory(_ event: AccessoryEvent, didSend data: AccessoryData, in session: BackgroundSession) -> WorkResult {
        guard let bpm = data.value?["bpm"]?.integer else { return .nothing }
        // Counted by an earlier process, but its acknowledgement was lost with that process.
        guard event.id != lastID else { return .nothing }
        beats += 1
        lastID = event.id
        session.log("\(event.device): \(bpm) bpm")
        if beats % 60 == 0 { summarise(in: session) }
        // Kept with the acknowledgement that follows it, so that count and events cannot fall apart.
        session.checkpoint("\(beats) \(event.id)")
        return .useful
    }

    func accessory(_ event: AccessoryEvent, didLose gap: AccessoryGap, in session: BackgroundSession) -> WorkResult {
        session.log("\(event.device): \(gap.count.map(String.init) ?? "some") events lost (\(gap.cause))")
        return .useful
    }

    private func summarise(in session: BackgroundSession) {
        let task = session.beginBackgroundTask(named: "summary") { session.log("no time for the summary") }
        session.log("\(beats) beats so far")
        task.end()
    }
}
