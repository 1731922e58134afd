// What the tests of processes share: a tree of their own, shells in leaves of it, and patience with a limit.
import Glibc
import Synchronization
import TestBench
import Testing
import WakeModel

@testable import WakeSystem

/// A cgroup tree for one test, removed with everything in it.
final class TestTree {
    let tree: CgroupTree

    init() throws {
        Signals.ignoreBrokenPipes()
        tree = try CgroupTree.open(named: "wakebridge-test-\(getpid())-\(Counter.shared.next())")
    }

    deinit {
        _ = try? tree.sweep()
        tree.remove()
    }

    func container() throws -> ProcessContainer { .cgroup(try tree.makeLeaf(named: "leaf-\(Counter.shared.next())")) }
}

final class Counter: Sendable {
    static let shared = Counter()
    private let value = Atomic<Int>(0)
    func next() -> Int { value.add(1, ordering: .relaxed).newValue }
}

/// Whether cgroups can be made here at all: where not, tests of the strong backend say so and are skipped. That they
/// can also be frozen is for the tests to find out.
let hasCgroups = (try? CgroupTree.ownPath()).map { access($0, W_OK) == 0 } ?? false

func shell(_ script: String) -> SpawnRequest {
    var request = SpawnRequest(
        executable: "/bin/sh", arguments: ["sh", "-c", script], environment: [("PATH", "/usr/bin:/bin")])
    // Tests run on threads that come and go.
    request.diesWithDaemon = false
    return request
}

func python(_ script: String) -> SpawnRequest {
    var request = SpawnRequest(executable: "/usr/bin/python3", arguments: ["python3", "-c", script])
    request.diesWithDaemon = false
    return request
}

/// Reads until end-of-file.
func readToEnd(_ file: borrowing PipeEnd) throws -> String {
    var bytes: [UInt8] = []
    _ = try Patience.wait {
        while true {
            switch try file.read(appendingTo: &bytes, limit: 4096) {
            case .bytes: continue
            case .endOfFile, .closed: return true
            case .wouldBlock: return false
            }
        }
    }
    return String(decoding: bytes, as: UTF8.self)
}

/// Reads a whole line.
func readLine(_ file: borrowing PipeEnd) throws -> String {
    var bytes: [UInt8] = []
    _ = try Patience.wait {
        while bytes.last != UInt8(ascii: "\n") {
            if case .bytes = try file.read(appendingTo: &bytes, limit: 1) { continue }
            return false
        }
        return true
    }
    return String(decoding: bytes.dropLast(), as: UTF8.self)
}

func waitForEnd(of child: borrowing ChildProcess) throws -> WakeModel.ExitStatus? {
    var status: WakeModel.ExitStatus?
    _ = try Patience.wait {
        status = try child.reap()
        return status != nil
    }
    return status
}

/// Waits for the container to be as asked.
func settles(_ child: borrowing ChildProcess, populated: Bool? = nil, frozen: Bool? = nil) throws -> Bool {
    try Patience.wait {
        let events = try child.container.events()
        return populated ?? events.isPopulated == events.isPopulated && frozen ?? events.isFrozen == events.isFrozen
    }
}

/// Kills what is left of a test's child, and reaps it.
func finish(_ child: borrowing ChildProcess) throws {
    try child.container.kill()
    // Reaped already where the test did so itself.
    _ = try? waitForEnd(of: child)
    _ = try settles(child, populated: false)
    _ = child.container.remove()
}

/// Starts another child, sends it a line, and waits for its answer: a child that could run would have run meanwhile.
func outrun(by request: SpawnRequest) throws {
    var other = try ChildProcess.spawn(request, into: .processGroup(ProcessGroup()))
    try other.container.thaw()
    _ = try other.input.write(Array("hello\n".utf8))
    other.input.close()
    #expect(try readToEnd(other.output) == "got hello\n")
    #expect(try waitForEnd(of: other) == .exited(code: 0))
}
