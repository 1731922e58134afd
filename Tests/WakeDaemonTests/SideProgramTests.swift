// Programs that the daemon runs for a moment: fed, bounded in time, and ended with all that they started.
import Glibc
import TestBench
import Testing
import WakeLoop
import WakeModel
import WakeSystem

@testable import WakeEngine

@Suite("A program beside the handlers") final class SideProgramTests {
    private let loop: EventLoop
    private var program: SideProgram?
    private var ending: SideProgram.Ending?

    init() throws { loop = try EventLoop() }

    /// - Parameters:
    ///   - book: the loop turns only once there is something in it.
    ///   - hearsLate: the loop turns only once the program has ended.
    private func run(
        _ script: String, input: String = "", patience: TimeSpan = .seconds(60), once book: String? = nil,
        hearsLate: Bool = false
    ) throws {
        let request = SpawnRequest(executable: "/bin/sh", arguments: ["sh", "-c", script])
        let child = try ChildProcess.spawn(request, into: .processGroup(ProcessGroup()))
        let status = "/proc/\(child.pid)/status"
        let program = try SideProgram(child, input: Array(input.utf8), patience: patience)
        self.program = program
        try program.listen(on: loop, of: self) { $0.look() }
        if let book { _ = Patience.wait { !text(of: book).isEmpty } }
        if hearsLate { _ = Patience.wait { text(of: status).contains("Z (zombie)") } }
        while ending == nil { try loop.runOnce(timeout: .seconds(1)) }
    }

    private func look() { if ending == nil { ending = program?.advance() } }

    @Test("it reads what it is given to its end, and its last line and its status are known")
    func fed() throws {
        try run("read line; echo \"got $line\"; cat; exit 3", input: "one\n")
        #expect(ending == .exited(code: 3) && program?.lastLine == "got one")
    }

    @Test("its last line is known too where its end is heard before what it wrote")
    func endsUnheard() throws {
        try run("echo before; echo why >&2; echo after", hearsLate: true)
        #expect(ending == .exited(code: 0) && program?.lastLine == "why")
        (program, ending) = (nil, nil)
        try run("echo one; echo two", hearsLate: true)
        #expect(ending == .exited(code: 0) && program?.lastLine == "two")
    }

    @Test("one that takes too long is killed with what it started, and that is said")
    func overdue() throws {
        let folder = makeDirectory("/tmp/wakeside.XXXXXX")
        defer { Directory.removeTree(folder) }
        let book = folder + "/child"
        try run("sleep 600 & echo $! > \(book); wait", patience: .milliseconds(300), once: book)
        #expect(ending == .overdue)
        let child = try #require(Int32(text(of: book).filter(\.isNumber)))
        // It is another process's child by now, and may be a zombie until that one looks.
        let status = text(of: "/proc/\(child)/status")
        #expect(status.isEmpty || status.contains("Z (zombie)"), "\(status)")
    }

    @Test("one that cannot be executed is told as such")
    func absent() throws {
        let request = SpawnRequest(executable: "/nonexistent/tell", arguments: ["tell"])
        let child = try ChildProcess.spawn(request, into: .processGroup(ProcessGroup()))
        let program = try SideProgram(child, input: [], patience: .seconds(60))
        self.program = program
        try program.listen(on: loop, of: self) { $0.look() }
        while ending == nil { try loop.runOnce(timeout: .seconds(1)) }
        guard case .neverRan(let error) = ending else {
            Issue.record("\(String(describing: ending))")
            return
        }
        #expect(error.description.contains("could not execute /nonexistent/tell"), "\(error.description)")
    }
}
