// The tool against a control server of the test's own, in Greenwich.
import TestBench
import WakeAPI
import WakeControl

extension Fixture {
    /// Refuses what the API would refuse, and answers everything else by `perform`.
    static func answering(_ perform: @escaping (ControlRequest) -> ControlResponse) throws -> Fixture {
        try Fixture { request in
            do throws(ControlRefusal) { _ = try API.read(request) } catch { return .refusal(error) }
            return perform(request)
        }
    }

    func tool(_ arguments: String...) throws -> Outcome {
        try run(["env", "TZ=UTC", Built.tool, "--socket", path] + arguments)
    }
}
