// Handlers of the Swift library on a machine that has no thread left for them.
import Glibc
import TestBench
import Testing
import WakeSystem

@Suite("A handler without a thread to spare") struct ThreadTests {
    private static let lines = (1...3).map { event($0) }
    /// Before a command: a user without other processes, where that is possible.
    private static let user = Machine.isRoot ? ["setpriv", "--reuid=41234", "--clear-groups"] : []

    /// A handler that may have one thread.
    private func starved() throws -> Child {
        let input = temporaryDirectory() + "/in"
        put(Self.lines.joined(separator: "\n") + "\n", at: input)
        let file = open(input, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        let program = "\(builtPrograms)/ExampleBeatSequence"
        return try Child(Self.user + ["prlimit", "--nproc=1:", "sh", "-c", "exec '\(program)' 3>&1"], input: file)
    }

    /// Starts a handler that cannot get a thread, and stops it in the pause between two tries. The pause lasts a
    /// second, of which a busy machine may leave nothing.
    private func stopped() throws -> Child {
        for _ in 1...20 {
            let handler = try starved()
            _ = Patience.wait { handler.isOver || isPausing(handler.process) }
            kill(handler.process, SIGSTOP)
            _ = Patience.wait { handler.isOver || processState(handler.process) == "T" }
            if !handler.isOver { return handler }
        }
        throw SystemError("stop", "a handler that tries for a thread", .timedOut)
    }

    /// Checks the kernel's name for its wait; a handler waits so only in that pause.
    private func isPausing(_ process: Int32) -> Bool {
        text(of: "/proc/\(process)/comm").hasPrefix("ExampleBeat")
            && text(of: "/proc/\(process)/wchan").hasSuffix("nanosleep")
    }

    @Test("it says why on standard error and ends, instead of waiting for ever")
    func ends() throws {
        let ended = try starved().finish(within: 60)
        #expect(ended.exit == 1 && ended.output == "")
        #expect(ended.talk == "wakehandler: no thread can be started to read events, so the handler ends\n")
    }

    @Test("it gets its events as usual if the machine has a thread soon")
    func waits() throws {
        let handler = try stopped()
        let raised = try Child(Self.user + ["prlimit", "--pid", "\(handler.process)", "--nproc=4096:"]).finish()
        #expect(raised.exit == 0, "\(raised.talk)")
        kill(handler.process, SIGCONT)
        let ended = handler.finish(within: 60)
        #expect(ended.exit == 0 && ended.talk == "")
        #expect(ended.output.split(separator: "\n").count { $0.hasPrefix("{\"ack\":") } == Self.lines.count)
    }
}
