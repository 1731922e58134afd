// A handler of the limit: the null handler in a cgroup of its own, with that one's freezer open.
import Glibc
import WakeSystem

final class LimitHandler {
    private var child: ChildProcess
    private let freezer: FileDescriptor

    /// - Parameter words: what the null handler is started with, from its board on.
    init(_ number: Int, in tree: CgroupTree, _ words: [String]) throws {
        let leaf = try tree.makeLeaf(named: "h\(number)")
        freezer = try File.open(leaf.path + "/cgroup.freeze", for: .write)
        let program = try Places.handler()
        child = try ChildProcess.spawn(
            SpawnRequest(executable: program, arguments: [program] + words), into: .cgroup(leaf))
    }

    /// Its number, of a cgroup whose name begins with it.
    static func number(ofGroup name: String) -> Int? {
        guard name.first == "h" else { return nil }
        return Int(name.dropFirst().prefix { $0.isNumber })
    }

    // Descriptors that it owns.
    var input: Int32 { child.input.raw ?? -1 }
    var replies: Int32 { child.replies.raw ?? -1 }
    var freeze: Int32 { freezer.raw }

    func end() throws {
        try child.container.kill()
        var end = pollfd(fd: child.pidfd.raw, events: Int16(POLLIN), revents: 0)
        poll(&end, 1, 5_000)
        _ = try child.reap()
        _ = child.container.remove()
    }
}
