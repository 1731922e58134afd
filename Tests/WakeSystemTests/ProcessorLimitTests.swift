// Limits of processor time: what is written into which file of a cgroup, and what is said where no such controller is lent.
import Glibc
import Testing

@testable import WakeSystem

@Suite("Processor limits") struct ProcessorLimitTests {
    /// Files as the kernel has them.
    private func withHierarchy(lending controllers: String, _ body: (String) throws -> Void) throws {
        let own = try Directory.makeTemporary(prefix: "wakecpu")
        defer { Directory.removeTree(own) }
        try Directory.create(own + "/bridge/leaf")
        for name in [
            "cgroup.subtree_control", "bridge/cgroup.subtree_control", "bridge/leaf/cpu.max", "bridge/cgroup.procs",
        ] {
            try File.replace("\(own)/\(name)", with: [], mode: 0o644)
        }
        try File.replace(own + "/cgroup.controllers", with: Array(controllers.utf8), mode: 0o644)
        try body(own)
    }

    @Test("the controller is passed on down to the leaves, and a leaf gets its share of each tenth of a second")
    func limits() throws {
        try withHierarchy(lending: "cpuset cpu io memory pids\n") { own in
            let tree = try #require(CgroupTree(leftAt: own + "/bridge"))
            try tree.passProcessor()
            for cgroup in [own, own + "/bridge"] {
                #expect(try File.text(at: cgroup + "/cgroup.subtree_control") == "+cpu")
            }
            try Containment.limitProcessor(25, in: own + "/bridge/leaf")
            #expect(try File.text(at: own + "/bridge/leaf/cpu.max") == "25000 100000")
            try File.replace(own + "/bridge/leaf/cpu.max", with: [], mode: 0o644)
            try Containment.limitProcessor(nil, in: own + "/bridge/leaf")
            #expect(try File.text(at: own + "/bridge/leaf/cpu.max") == "max 100000")
        }
    }

    @Test("where no such controller is lent, the sentence says so, and nothing is written")
    func lacks() throws {
        try withHierarchy(lending: "memory pids\n") { own in
            let tree = try #require(CgroupTree(leftAt: own + "/bridge"))
            var told: SystemError?
            do throws(SystemError) { try tree.passProcessor() } catch { told = error }
            #expect(told?.errno == .notSupported && told?.description.contains("delegate the cpu controller") == true)
            #expect(try File.text(at: own + "/cgroup.subtree_control").isEmpty)
        }
    }
}
