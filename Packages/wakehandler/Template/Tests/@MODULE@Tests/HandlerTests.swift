// The handler, with a recording in place of the device and the daemon.
import Testing
import WakeHandler
import WakeHandlerTesting

@testable import @MODULE@

@MainActor
struct HandlerTests {
    /// The profiles and recordings beside the library. Record your own device with `wakebridge record DEVICE -o my.trace`.
    private let devices: String = {
        let package = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
        return package + "/Packages/wakehandler/Devices"
    }()

    private func answers(to recording: Recording) async throws -> HandlerAnswers {
        try await recording.play { session in
            try await session.process { event in try await work(on: event, session) }
        }
    }

    @Test("every heart rate of the recording is logged, and every event is acknowledged")
    func logsHeartRates() async throws {
        let recording = try Recording(trace: "\(devices)/heart-rate-monitor/recording.trace", devices: devices)
        let answers = try await answers(to: recording)
        #expect(answers.log.first?.hasSuffix("chest-strap: 62 bpm") == true)
        #expect(answers.acknowledgements.count == 96)
        #expect(answers.unanswered.isEmpty)
    }

    @Test("a loss of events is logged")
    func logsGaps() async throws {
        let recording = try Recording(
            text: """
                wakebridge-trace 1
                clock 2026-11-21T07:42:46Z
                device 1 bluetooth C0:F1:F2:F3:F4:01 alias="strap"
                +1 1 gap link for=1
                end

                """)
        #expect(try await answers(to: recording).log == ["warning: strap: some events lost (link)"])
    }
}
