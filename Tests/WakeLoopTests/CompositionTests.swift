// The shape in which the daemon holds a handler: an owned child in an object, reached through the loop's calls.
import Glibc
import Testing
import WakeModel
import WakeSystem

@testable import WakeLoop

private final class Handler {
    private let loop: EventLoop
    private var child: ChildProcess?
    private var watches: [Watch] = []
    private(set) var lines = ""
    private(set) var end: WakeModel.ExitStatus?

    init(on loop: EventLoop) { self.loop = loop }

    func start(in tree: CgroupTree?) throws {
        let container: ProcessContainer
        if let tree {
            container = .cgroup(try tree.makeLeaf(named: "handler"))
        } else {
            container = .processGroup(ProcessGroup())
        }
        var request = SpawnRequest(executable: "/bin/cat", arguments: ["cat"])
        request.diesWithDaemon = false
        let child = try ChildProcess.spawn(request, into: container)
        watches = [
            try loop.watch(child.output.raw ?? -1, for: .readable) { [unowned self] _ in drain() },
            try loop.watch(child.pidfd.raw, for: .readable) { [unowned self] _ in reap() },
        ]
        self.child = consume child
    }

    func deliver(_ text: String) throws {
        _ = try child?.input.write(Array(text.utf8))
        try child?.container.thaw()
    }

    func finish() { child?.input.close() }

    private func drain() {
        var bytes: [UInt8] = []
        guard let result = try? child?.output.read(appendingTo: &bytes, limit: 4096) else { return }
        switch result {
        case .bytes: lines += String(decoding: bytes, as: UTF8.self)
        case .wouldBlock: return
        case .endOfFile, .closed: watches[0].cancel()
        }
    }

    private func reap() {
        end = try? child?.reap()
        guard end != nil else { return }
        watches = []
        child?.container.remove()
        child = nil
    }
}

@Suite struct CompositionTests {
    @Test(
        "an object that owns a child delivers, drains, reaps and releases it, on either backend",
        arguments: [true, false])
    func lifecycle(withCgroup: Bool) throws {
        Signals.ignoreBrokenPipes()
        let tree = withCgroup ? try? CgroupTree.open(named: "wakebridge-composition-test-\(getpid())") : nil
        let loop = try EventLoop()
        let handler = Handler(on: loop)
        try handler.start(in: tree)
        try handler.deliver("hello\n")
        let deadline = SystemClock.monotonic() + .seconds(3)
        while handler.lines.isEmpty, SystemClock.monotonic() < deadline {
            try loop.runOnce(timeout: .milliseconds(50))
        }
        #expect(handler.lines == "hello\n")
        handler.finish()
        while handler.end == nil, SystemClock.monotonic() < deadline { try loop.runOnce(timeout: .milliseconds(50)) }
        #expect(handler.end == .exited(code: 0))
        tree?.remove()
    }
}
