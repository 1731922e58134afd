// What the tests of processes share: a tree of their own, shells in leaves of it, and patience with a limit.
import Glibc
import Synchronization
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

/// Asks every half millisecond until the answer is yes; false after `limit`.
func eventually(within limit: TimeSpan = .seconds(5), _ condition: () throws -> Bool) rethrows -> Bool {
    let end = SystemClock.monotonic() + limit
    while SystemClock.monotonic() < end {
        if try condition() { return true }
        usleep(500)
    }
    return try condition()
}

/// Reads until end-of-file, or for at most five seconds.
func readToEnd(_ file: borrowing PipeEnd) throws -> String {
    var bytes: [UInt8] = []
    let end = SystemClock.monotonic() + .seconds(5)
    while SystemClock.monotonic() < end {
        switch try file.read(appendingTo: &bytes, limit: 4096) {
        case .bytes: continue
        case .endOfFile, .closed: return String(decoding: bytes, as: UTF8.self)
        case .wouldBlock: usleep(500)
        }
    }
    return String(decoding: bytes, as: UTF8.self)
}

/// Reads until a line has come, or for at most five seconds.
func readLine(_ file: borrowing PipeEnd) throws -> String {
    var bytes: [UInt8] = []
    let end = SystemClock.monotonic() + .seconds(5)
    while SystemClock.monotonic() < end, bytes.last != UInt8(ascii: "\n") {
        if case .wouldBlock = try file.read(appendingTo: &bytes, limit: 1) { usleep(500) }
    }
    return String(decoding: bytes.dropLast(), as: UTF8.self)
}

func waitForEnd(of child: borrowing ChildProcess) throws -> WakeModel.ExitStatus? {
    let end = SystemClock.monotonic() + .seconds(5)
    while SystemClock.monotonic() < end {
        if let status = try child.reap() { return status }
        usleep(500)
    }
    return nil
}

/// Waits for the container to be as asked.
func settles(_ child: borrowing ChildProcess, populated: Bool? = nil, frozen: Bool? = nil) throws -> Bool {
    let end = SystemClock.monotonic() + .seconds(5)
    while SystemClock.monotonic() < end {
        let events = try child.container.events()
        if populated ?? events.isPopulated == events.isPopulated, frozen ?? events.isFrozen == events.isFrozen {
            return true
        }
        usleep(200)
    }
    return false
}

/// Kills what is left of a test's child, and reaps it.
func finish(_ child: borrowing ChildProcess) throws {
    try child.container.kill()
    // Reaped already where the test did so itself.
    _ = try? waitForEnd(of: child)
    _ = try settles(child, populated: false)
    _ = child.container.remove()
}
