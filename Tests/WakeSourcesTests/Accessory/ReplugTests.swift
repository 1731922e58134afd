// What the kernel has plugged in anew before udev has said that it went.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@testable import WakeSources

@Suite("Plugged in ahead of udev", .serialized)
struct ReplugTests {
    private static let device = "/accessory/2341:0043:A1:00"

    /// Plugged in, pulled out and plugged in again at once, by a kernel that is ahead of udev: nobody has said so yet.
    private func replug(_ bench: AccessoryBench, in folder: String) throws -> [Gadget] {
        let (gadgets, path) = ([try Gadget(), try Gadget()], folder + "/usb1/1-1/1-1:1.0/tty/x1")
        bench.plan.replugGrace = .seconds(20)
        symlink(gadgets[0].node, folder + "/node")
        try Directory.create(path)
        say(.add, bench, in: folder)
        #expect(try bench.turn { bench.story() == ["+"] })
        // Made before the first one goes, so that its number is another.
        try Directory.create(folder + "/next")
        rmdir(path)
        rename(folder + "/next", path)
        unlink(folder + "/node")
        symlink(gadgets[1].node, folder + "/node")
        gadgets[0].hangUp()
        // Longer than until it is tried again.
        try bench.pause(.milliseconds(1_200))
        #expect(bench.source.hindrance(of: Self.device)?.contains("plugged in anew") == true)
        #expect(bench.story() == ["+"])
        return gadgets
    }

    private func say(_ action: UdevRecord.Action, _ bench: AccessoryBench, in folder: String) {
        var record = bench.record(action, serial: "A1", node: folder + "/node")
        record.path = folder + "/usb1/1-1/1-1:1.0/tty/x1"
        bench.source.take(.record(record))
    }

    @Test("plugged in anew before udev has said that it went, it is opened once, when udev has said both")
    func replugged() throws {
        let folder = makeDirectory("/tmp/wakebridge-sys.XXXXXX")
        defer { Directory.removeTree(folder) }
        let bench = try AccessoryBench()
        let gadgets = try replug(bench, in: folder)
        say(.remove, bench, in: folder)
        say(.add, bench, in: folder)
        #expect(try bench.turn { bench.story() == ["+", "gap", "+1"] }, "\(bench.story())")
        gadgets[1].say("one\n")
        #expect(try bench.turn { bench.story().last == ":one" })
        #expect(bench.gaps.count == 1)
    }

    @Test("plugged in anew, it is opened after a while although udev says nothing of it")
    func repluggedUnheard() throws {
        let folder = makeDirectory("/tmp/wakebridge-sys.XXXXXX")
        defer { Directory.removeTree(folder) }
        let bench = try AccessoryBench()
        let gadgets = try replug(bench, in: folder)
        bench.sleep(.seconds(11))
        // It is opened on a thread; what follows is due by a clock that has slept.
        try bench.pause(.milliseconds(500))
        bench.sleep(.seconds(1))
        #expect(try bench.turn { bench.story() == ["+", "gap", "+1"] }, "\(bench.story())")
        gadgets[1].say("one\n")
        #expect(try bench.turn { bench.story().last == ":one" })
    }
}
