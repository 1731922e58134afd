// The tool against a control server of the test's own, in Greenwich.
import TestBench

extension Fixture {
    func tool(_ arguments: String...) throws -> Outcome {
        try run(["env", "TZ=UTC", Built.tool, "--socket", path] + arguments)
    }
}
