// The tool against a control server of the test's own.
import TestBench

extension Fixture {
    func tool(_ arguments: String...) throws -> Outcome { try run([Built.tool, "--socket", path] + arguments) }
}
