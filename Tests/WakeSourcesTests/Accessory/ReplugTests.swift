// What the kernel has plugged in again before udev has said that it went.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@testable import WakeSources

@Suite("Plugged in ahead of udev", .serialized)
final class ReplugTests {
    private static let device = "/accessory/2341:0043:A1:00"
    private let folder = makeDirectory("/tmp/wakebridge-sys.XXXXXX")
    private let bench: AccessoryBench
    private let gadgets: [Gadget]

    init() throws {
        bench = try AccessoryBench()
        gadgets = [try Gadget(), try Gadget()]
    }

    deinit { Directory.removeTree(folder) }

    private var path: String { folder + "/usb1/1-1/1-1:1.0/tty/x1" }

    private func say(_ action: UdevRecord.Action) {
        var record = bench.record(action, serial: "A1", node: folder + "/node")
        record.path = path
        bench.source.apply(.record(record))
    }

    /// Plugged in, pulled out and plugged in again at once: of the last two udev has not said anything.
    private func replug() throws {
        bench.plan.replugGrace = .seconds(20)
        symlink(gadgets[0].node, folder + "/node")
        try Directory.create(path)
        say(.add)
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
        #expect(bench.source.blockingReason(of: Self.device)?.contains("plugged in again") == true)
        #expect(bench.story() == ["+"])
    }

    private func expectHeardAgain() throws {
        #expect(try bench.turn { bench.story() == ["+", "gap", "+1"] }, "\(bench.story())")
        gadgets[1].say("one\n")
        #expect(try bench.turn { bench.story() == ["+", "gap", "+1", ":one"] }, "\(bench.story())")
    }

    @Test("plugged in again before udev has said that it went, it is opened once, when udev has said both")
    func told() throws {
        try replug()
        say(.remove)
        say(.add)
        try expectHeardAgain()
    }

    @Test("plugged in again, it is opened after a while although udev says nothing of it")
    func untold() throws {
        try replug()
        bench.sleep(.seconds(11))
        // It is opened on a thread; what follows is due by a clock that has slept.
        try bench.pause(.milliseconds(500))
        bench.sleep(.seconds(1))
        try expectHeardAgain()
    }
}
