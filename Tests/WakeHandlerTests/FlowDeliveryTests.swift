// Flows in a session: a beginning stays open until the flow is over, and what a handler opens and closes is written.
import Testing

@testable import WakeHandler

private final class Recorder: BackgroundSessionDelegate {
    var told: [FlowChange.Step] = []

    func session(_ session: BackgroundSession, flowDidChange change: FlowChange, for event: BackgroundEvent)
        -> WorkResult
    {
        told.append(change.step)
        return change.hasStarted ? .pending : .useful
    }
}

private final class Silent: BackgroundSessionDelegate {}

@Suite("Flows in a session")
@MainActor
struct FlowDeliveryTests {
    private func flow(_ sequence: Int, _ step: String, _ reason: String? = nil) -> String {
        let why = reason.map { ",\"reason\":\"\($0)\"" } ?? ""
        return occasion(sequence, "flow.\(step)", of: "ecg", "{\"name\":\"ecg\"\(why)}")
    }

    @Test(
        "a beginning is left open, also by a delegate that does not know flows, and other events are finished past it")
    func staysOpen() {
        let (recorder, silent) = (Recorder(), Silent())
        for delegate in [recorder, silent] as [any BackgroundSessionDelegate] {
            let fed = Fed(delegate)
            fed.feed(flow(1, "started"), event(2), flow(3, "ended", "idle"), event(4))
            #expect(fed.answers.map { $0.prefix(8) } == ["{\"ack\":2", "{\"ack\":3", "{\"ack\":4"])
        }
        #expect(recorder.told == [.started, .ended(.idle)])
    }

    @Test("an interruption says why, and the flow that begins again is another one that stays open")
    func interrupted() {
        let recorder = Recorder()
        let fed = Fed(recorder)
        fed.feed(flow(1, "started"), flow(2, "interrupted", "group"), flow(3, "started"), flow(4, "ended", "later"))
        #expect(recorder.told == [.started, .interrupted(.group), .started, .ended(.other("later"))])
        #expect(fed.answers.count == 2)
    }

    @Test("a flow of the handler's own is opened, asked for and closed by its name, and nothing of it is answered then")
    func orders() async throws {
        let recorder = Recorder()
        let fed = Fed(recorder)
        let ecg = fed.session.flow("ecg")
        ecg.open()
        let asking = Task { try await ecg.openAndAsk() }
        await fed.settle()
        fed.feed(notice("reply", "{\"flow\":\"waiting\",\"pending\":[],\"ref\":1}"), flow(1, "started"))
        #expect(try await asking.value == .waiting)
        ecg.close()
        #expect(
            fed.answers == [
                "{\"flow\":{\"name\":\"ecg\",\"open\":true}}", "{\"flow\":{\"name\":\"ecg\",\"open\":true},\"ref\":1}",
                "{\"flow\":{\"name\":\"ecg\",\"open\":false}}",
            ])
    }
}
