// Handlers in Python under a real daemon: the tests of the Python module that need one.
import TestBench
import Testing

@Suite("Handlers in Python", .serialized)
struct PythonHandlerTests {
    @Test("its orders are answered, and what is scheduled comes to it, while a long job goes on too")
    func module() throws {
        let script = "cd '\(packageFolder)/Packages/python' && exec python3 -B -m unittest test_daemon"
        let variables = ["WAKEBRIDGED=\(Built.daemon)", "WAKEBRIDGE_DEVICES=\(packageFolder)/Devices"]
        let outcome = try Child(["/usr/bin/env"] + variables + ["/bin/sh", "-c", script]).finish()
        #expect(outcome.exit == 0 && outcome.talk.contains("\nOK\n"), "\(outcome.talk)")
    }
}
