// Accessories from udev's word to the event and back, over real terminals.
import Glibc
import TestBench
import Testing
import WakeLoop
import WakeModel
import WakeSystem

@testable import WakeSources

private let serialSource = "/accessory/2341:0043:A1:00"

private func descriptors() -> Int { names(in: "/proc/self/fd").count }

@Suite("Accessory source")
struct AccessorySourceTests {
    @Test(
        "plugged in, a device that a profile knows is connected, heard in whole messages, and disconnected when it goes"
    )
    func lives() throws {
        let bench = try AccessoryBench()
        let gadget = try Gadget()
        bench.plug(gadget, serial: "A1")
        #expect(try bench.turn { bench.story() == ["+"] })
        #expect(bench.known[serialSource]?.alias == "sensor-A1")
        #expect(bench.known[serialSource]?.profile == "sensor")
        gadget.say("one\r\ntw")
        #expect(try bench.turn { bench.story().count == 2 })
        gadget.say("o\n")
        #expect(try bench.turn { bench.story() == ["+", ":one", ":two"] })
        bench.unplug(serial: "A1")
        #expect(try bench.turn { bench.story().last == "-unplugged" })
        guard case .until = bench.heard[serialSource] else {
            Issue.record("it is not listened to any more")
            return
        }
    }

    @Test("two interfaces of one device have names of their own, whichever is there first")
    func interfaces() throws {
        for numbers in [["00", "02"], ["02", "00"]] {
            let bench = try AccessoryBench()
            for number in numbers {
                var record = bench.record(.found, serial: "A1", node: "/dev/wakebridge-none", name: "x\(number)")
                record.properties["ID_USB_INTERFACE_NUM"] = number
                bench.source.apply(.record(record))
            }
            #expect(Set(bench.known.values.map(\.alias)) == ["sensor-A1", "sensor-A1-02"])
        }
    }

    @Test("what stands in the line when the device goes is told before that, half a message as what it is")
    func concludes() throws {
        let bench = try AccessoryBench()
        let gadget = try Gadget()
        bench.plug(gadget, serial: "A1")
        #expect(try bench.turn { bench.story() == ["+"] })
        gadget.say("whole\nhal")
        bench.unplug(serial: "A1")
        #expect(try bench.turn { bench.story().last == "-unplugged" })
        #expect(bench.story() == ["+", ":whole", "!undecodable", ":hal", "-unplugged"])
        #expect(bench.told.map(\.kind).contains(.data(.fragment(.cutShort), Array("hal".utf8))))
    }

    @Test("a line that hangs up is closed at once, also before udev says so")
    func hangsUp() throws {
        let bench = try AccessoryBench()
        let gadget = try Gadget()
        bench.plug(gadget, serial: "A1")
        #expect(try bench.turn { bench.story() == ["+"] })
        let before = descriptors()
        gadget.hangUp()
        #expect(try bench.turn { descriptors() <= before - 2 })
        bench.unplug(serial: "A1")
        #expect(try bench.turn { bench.story() == ["+", "-unplugged"] })
    }

    @Test("a node that cannot be opened is told of, and everything else goes on")
    func cannotOpen() throws {
        let bench = try AccessoryBench()
        let gadget = try Gadget()
        var record = bench.record(.add, port: "1", serial: "B1", node: "/dev/wakebridge-none")
        let sys = makeDirectory("/tmp/wakebridge-sys.XXXXXX")
        defer { Directory.removeTree(sys) }
        record.path = sys + "/usb1/1-1/1-1:1.0/tty/x1"
        try Directory.create(record.path)
        bench.source.apply(.record(record))
        bench.plug(gadget, port: "2", serial: "A1")
        #expect(try bench.turn { bench.story("/accessory/2341:0043:B1:00") == ["!access-denied"] })
        #expect(bench.source.blockingReason(of: "/accessory/2341:0043:B1:00")?.contains("/dev/wakebridge-none") == true)
        #expect(bench.story(serialSource) == ["+"])
    }

    @Test("a node that has gone with its device raises no attention, though udev is late to say so")
    func isGone() throws {
        let bench = try AccessoryBench()
        bench.source.apply(.record(bench.record(.add, serial: "A1", node: "/dev/wakebridge-none")))
        // Longer than the quick tries take.
        try bench.pause(.milliseconds(1_500))
        #expect(bench.source.blockingReason(of: serialSource)?.contains("/dev/wakebridge-none") == true)
        bench.unplug(serial: "A1")
        try bench.pause(.milliseconds(200))
        #expect(bench.story() == [])
    }

    @Test("handlers write to the line, more than it holds at once in order, and not to one that is gone")
    func writes() throws {
        let bench = try AccessoryBench()
        let gadget = try Gadget()
        bench.plug(gadget, serial: "A1")
        #expect(try bench.turn { bench.story() == ["+"] })
        var answers: [Bool] = []
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: 30_000)
        bench.source.write(long, to: nil, of: serialSource) { answers.append((try? $0.get()) != nil) }
        bench.source.write(Array("end".utf8), to: .serial, of: serialSource) { answers.append((try? $0.get()) != nil) }
        bench.source.write([1], to: .input, of: serialSource) { answers.append((try? $0.get()) != nil) }
        var heard = ""
        #expect(
            try bench.turn {
                heard += gadget.heard()
                return answers.count == 3 && heard.count >= long.count + 3
            })
        #expect(answers == [true, true, false])
        #expect(heard == String(repeating: "x", count: long.count) + "end")
        bench.unplug(serial: "A1")
        bench.source.write([1], to: nil, of: serialSource) { answers.append((try? $0.get()) != nil) }
        #expect(answers.last == false)
    }

    @Test("closed by the user the line is free for others, and opened again it is heard again")
    func closes() throws {
        let bench = try AccessoryBench()
        let gadget = try Gadget()
        bench.plug(gadget, serial: "A1")
        #expect(try bench.turn { bench.story() == ["+"] })
        bench.source.setSession(.closed, of: serialSource)
        #expect(bench.story() == ["+", "-session-closed"])
        #expect(throws: Never.self) { _ = try SerialPort(opening: gadget.node, LineSettings(), isExclusive: true) }
        bench.source.setSession(.open, of: serialSource)
        #expect(try bench.turn { bench.story() == ["+", "-session-closed", "gap", "+"] })
    }

    @Test("one that is let go while its handler sleeps does not wake it by half a message: that is part of the gap")
    func letsGo() throws {
        let bench = try AccessoryBench()
        bench.plan.onSuspend = .detach
        bench.wanted = [serialSource]
        let gadget = try Gadget()
        bench.plug(gadget, serial: "A1")
        #expect(try bench.turn { bench.story() == ["+"] })
        gadget.say("whole\nhal")
        #expect(try bench.turn { bench.story() == ["+", ":whole"] })
        let read = SystemClock.wall()
        try bench.pause(.milliseconds(200))
        bench.source.setWanted(false, serialSource)
        #expect(bench.story() == ["+", ":whole"])
        guard case .until(let time) = bench.heard[serialSource] else {
            Issue.record("it is let go")
            return
        }
        #expect(time <= read)
        try bench.pause(.milliseconds(100))
        bench.source.setWanted(true, serialSource)
        #expect(try bench.turn { bench.story() == ["+", ":whole", "-detached", "gap", "+"] })
        #expect(bench.gaps.last?.from == time)
    }

    @Test("when the bridge ends amid a message, its next life is told from when that began on nothing was heard")
    func ends() throws {
        let bench = try AccessoryBench()
        let gadget = try Gadget()
        bench.plug(gadget, serial: "A1")
        #expect(try bench.turn { bench.story() == ["+"] })
        gadget.say("whole\nhal")
        #expect(try bench.turn { bench.story() == ["+", ":whole"] })
        let read = SystemClock.wall()
        try bench.pause(.milliseconds(100))
        gadget.say("f of")
        try bench.pause(.milliseconds(100))
        bench.source.stop()
        guard case .until(let time) = bench.heard[serialSource] else {
            Issue.record("it is not listened to any more")
            return
        }
        #expect(time <= read)
    }

    @Test("bytes that waited for the bridge, not it for them, are one message where silence ends messages")
    func readsLate() throws {
        let time = HeldTime()
        let bench = try AccessoryBench(time: time)
        bench.plan.framing = .idle(.milliseconds(500))
        bench.plan.settle = .zero
        let gadget = try Gadget()
        let line = try WaitingBytes(of: gadget)
        bench.plug(gadget, serial: "A1")
        // The test's time stops while a thread opens the node.
        #expect(try Patience.wait { try time.settle(bench.loop) { bench.story() == ["+"] } })
        gadget.say("on")
        #expect(Patience.wait { line.count == 2 })
        #expect(try bench.turn { line.count == 0 })
        // The bridge reads nothing for a while, and the device goes on sending.
        gadget.say("e")
        #expect(Patience.wait { line.count == 1 })
        time.move(by: .milliseconds(700))
        #expect(try bench.turn { bench.story().count > 1 })
        try bench.pause(.milliseconds(700))
        #expect(bench.story() == ["+", ":one"])
    }

    @Test("one that comes back with another profile within its grace has gone first")
    func changesProfile() throws {
        let bench = try AccessoryBench()
        bench.plan.replugGrace = .seconds(60)
        let gadget = try Gadget()
        bench.plug(gadget, serial: "A1")
        #expect(try bench.turn { bench.story() == ["+"] })
        bench.unplug(serial: "A1")
        try bench.pause(.milliseconds(50))
        #expect(bench.story() == ["+"])
        bench.profile = "other"
        bench.plug(gadget, serial: "A1")
        #expect(bench.story() == ["+", "-unplugged"])
        #expect(try bench.turn { bench.story() == ["+", "-unplugged", "+"] })
    }

    @Test("of two that look the same and stand on two ports each keeps its name, in whatever order they come")
    func tellsTwins() throws {
        let bench = try AccessoryBench()
        let (left, right) = (try Gadget(), try Gadget())
        bench.plug(left, port: "1")
        #expect(try bench.turn { bench.story().count == 1 })
        bench.plug(right, port: "2")
        #expect(try bench.turn { bench.story().count == 2 })
        let sources = bench.told.map(\.source)
        #expect(Set(sources).count == 2)
        #expect(bench.source.rename(sources[0], to: "left") && bench.source.rename(sources[1], to: "right"))

        bench.source.stop()

        let later = try AccessoryBench(bench.registries.last ?? AccessoryRegistry())
        later.source.apply(
            .snapshot(
                [
                    later.record(.found, port: "2", node: right.node), later.record(.found, port: "1", node: left.node),
                ], afterLoss: false))
        #expect(later.known[sources[0]]?.alias == "left" && later.known[sources[1]]?.alias == "right")
        // A thread that opened a node later would hold the next test's, whose number is the same.
        #expect(try later.turn { later.story().filter { $0 == "+" }.count == 2 })
        later.source.stop()
    }

    @Test("a device that could be either of two is not watched until an operator says which, and then under that name")
    func asks() throws {
        let bench = try AccessoryBench()
        let gadgets = [try Gadget(), try Gadget(), try Gadget()]
        for (index, port) in ["1", "2"].enumerated() {
            bench.plug(gadgets[index], port: port)
            #expect(try bench.turn { bench.story().count == index + 1 })
        }
        let sources = bench.told.map(\.source)
        for port in ["1", "2"] { bench.unplug(port: port) }
        #expect(try bench.turn { bench.story().count == 4 })
        bench.plug(gadgets[2], port: "7")
        try bench.pause(.milliseconds(100))
        #expect(bench.story().count == 4)
        let doubt = try #require(bench.source.doubts.values.first)
        #expect(Set(doubt.candidates) == Set(sources))
        #expect(bench.source.resolve(doubt.record.path, as: sources[1]) == sources[1])
        #expect(try bench.turn { bench.story(sources[1]).last == "+" })
        #expect(bench.source.doubts.isEmpty)
    }

    @Test("forgotten while its session is closed or paused, it is open and heard when it is new again")
    func forgets() throws {
        for session in [LinkSession.closed, .paused] {
            let bench = try AccessoryBench()
            let gadget = try Gadget()
            bench.plug(gadget, serial: "A1")
            #expect(try bench.turn { bench.story() == ["+"] })
            bench.sessions[serialSource] = session
            bench.source.setSession(session, of: serialSource)
            #expect(bench.story().count == 2)
            #expect(bench.source.forget(serialSource))
            #expect(bench.sessions[serialSource] == nil)
            #expect(try bench.turn { bench.story().last == "+" })
            gadget.say("one\n")
            #expect(try bench.turn { bench.story().last == ":one" })
        }
    }

    @Test("one of two twins that is forgotten while the other is away is new, and not the other")
    func forgetsTwin() throws {
        let bench = try AccessoryBench()
        let (left, right) = (try Gadget(), try Gadget())
        bench.plug(left, port: "1")
        bench.plug(right, port: "2")
        let sources = bench.known.keys.sorted()
        try #require(sources.count == 2)
        #expect(bench.source.rename(sources[0], to: "left") && bench.source.rename(sources[1], to: "right"))
        bench.unplug(port: "2")
        #expect(bench.source.forget(sources[0]))
        #expect(bench.source.node(of: sources[1]) == nil, "that is the one that is away")
        let again = try #require(bench.known.keys.first { bench.source.node(of: $0) == left.node })
        #expect(bench.known[again]?.alias != "right" && bench.known[again]?.alias != "left")
    }

    @Test("what was forgotten while it was away is told to be gone at once, and is new when it comes back")
    func forgetsAbsent() throws {
        let bench = try AccessoryBench()
        bench.plan.replugGrace = .seconds(60)
        let gadget = try Gadget()
        bench.plug(gadget, serial: "A1")
        #expect(try bench.turn { bench.story() == ["+"] })
        bench.unplug(serial: "A1")
        #expect(bench.source.forget(serialSource))
        #expect(bench.story() == ["+", "-unplugged"])
        #expect(bench.source.blockingReason(of: serialSource) == "it has not been attached since the bridge started")
        bench.plug(gadget, serial: "A1")
        #expect(try bench.turn { bench.story().last == "+" })
    }

    @Test("a replacement takes the name of the broken device, on every port, and its own identity is gone")
    func replaces() throws {
        let bench = try AccessoryBench()
        let gadget = try Gadget()
        bench.plug(gadget, port: "1", serial: "A1")
        #expect(try bench.turn { bench.story() == ["+"] })
        #expect(bench.source.rename(serialSource, to: "scale"))
        bench.unplug(port: "1", serial: "A1")
        let replacement = "/accessory/2341:0043:B2:00"
        bench.plug(gadget, port: "2", serial: "B2")
        #expect(try bench.turn { bench.story(replacement) == ["+"] })
        bench.sessions[replacement] = .paused
        #expect(bench.source.resolve(bench.source.place(of: replacement) ?? "", as: serialSource) == serialSource)
        #expect(bench.story(replacement) == ["+", "-unplugged"] && !bench.source.isKnown(replacement))
        #expect(bench.sessions.isEmpty && bench.registries.last?.uris == [serialSource])
        bench.unplug(port: "2", serial: "B2")
        bench.plug(gadget, port: "3", serial: "B2")
        #expect(bench.source.doubts.isEmpty && bench.source.uri(named: "scale") == serialSource)
        #expect(bench.source.node(of: serialSource) == gadget.node)
    }

    @Test(
        "of new devices at one port ten are taken in an hour, all interfaces of each, and the next when a person says so"
    )
    func newcomers() throws {
        let bench = try AccessoryBench()
        func plug(_ serial: String, port: String = "1", interface: String = "00") -> UdevRecord {
            var record = bench.record(.add, port: port, serial: serial, node: "/dev/wakebridge-none")
            record.properties["ID_USB_INTERFACE_NUM"] = interface
            bench.source.apply(.record(record))
            return record
        }
        for number in 1...12 {
            for interface in ["00", "02"] {
                _ = plug("S\(number)", interface: interface)
                bench.unplug(serial: "S\(number)")
            }
        }
        #expect(bench.source.registry.uris.count == 20 && !bench.source.isKnown("/accessory/2341:0043:S11:00"))
        // A new device at another port, and a known one.
        _ = plug("T1", port: "2")
        #expect(bench.source.isKnown("/accessory/2341:0043:T1:00"))
        let last = plug("S11")
        #expect(bench.source.resolve(last.path, as: nil) == "/accessory/2341:0043:S11:00")
        bench.unplug(serial: "S11")
        _ = plug("S11")
        #expect(bench.source.watched["/accessory/2341:0043:S11:00"] != nil && bench.source.registry.uris.count == 22)
    }

    @Test(
        "an hour after ten new devices came at a port the next is taken there, and what is part of the machine always is"
    )
    func newcomersLater() {
        var limit = NewcomerLimit()
        func identity(_ number: Int, vendor: String = "2341") -> AccessoryIdentity {
            AccessoryIdentity(vendor: vendor, product: "0043", serial: "S\(number)", interface: "00", port: "p")
        }
        let start = Instant(nanoseconds: 1)
        for number in 1...10 { #expect(limit.judge(identity(number), at: start) == .admitted) }
        #expect(limit.judge(identity(11), at: start) == .refused)
        #expect(limit.judge(identity(12), at: start + .seconds(3_599)) == .refusedToo)
        #expect(limit.judge(identity(3), at: start) == .admitted)
        for number in 0..<20 { #expect(limit.judge(identity(number, vendor: "platform"), at: start) == .admitted) }
        #expect(limit.judge(identity(12), at: start + .seconds(3_600)) == .admitted)
    }

    @Test(
        "devices that make serial numbers up are remembered up to a limit, and those forgotten are not watched either")
    func crowdsOut() throws {
        let bench = try AccessoryBench()
        for number in 1...(AccessoryRegistry.mostAbsent + 2) {
            let port = "\(number)"
            bench.source.apply(
                .record(bench.record(.add, port: port, serial: "\(number)", node: "/dev/wakebridge-none")))
            bench.unplug(port: port, serial: "\(number)")
        }
        #expect(bench.source.registry.uris.count == AccessoryRegistry.mostAbsent + 1)
        #expect(bench.source.watched.count == AccessoryRegistry.mostAbsent + 1)
        #expect(bench.source.watched["/accessory/2341:0043:1:00"] == nil)
    }
}
