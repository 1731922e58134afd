// The bus: a real dbus-daemon between two connections, with calls, objects, signals, deadlines, descriptors and its end.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@testable import WakeLoop

private let everyType: [BusValue] = [
    .boolean(true), .byte(255), .int16(-2), .uint16(65_535), .int32(-3), .uint32(4_000_000_000), .int64(.min),
    .uint64(.max), .double(0.25), .string("Brustgurt ♥"), .objectPath("/org/bluez/hci0"), .signature("a{sv}"),
    .bytes([0x10, 0x49, 0x00]), .bytes([]), .array(of: "s", [.string("180d"), .string("180f")]), .array(of: "o", []),
    .structure([.uint16(1), .string("x")]), .variant(.bytes([1])), .variant(.variant(.boolean(false))),
    .dictionary(key: "s", value: "v", []), .properties([("UUIDs", .array(of: "s", [])), ("RSSI", .int16(-60))]),
    .dictionary(
        key: "o", value: "a{sa{sv}}",
        [
            BusEntry(
                .objectPath("/dev"),
                .dictionary(
                    key: "s", value: "a{sv}",
                    [BusEntry(.string("org.bluez.Device1"), .properties([("Paired", .boolean(true))]))]))
        ]),
]

/// Two connections to one bus on one loop: the caller, and the callee.
private final class Pair {
    let bus: PrivateBus
    let loop: EventLoop
    let caller: BusConnection
    let callee: BusConnection
    var calleeName = ""

    init(calleeTakesDescriptors: Bool = true) throws {
        bus = try PrivateBus()
        loop = try EventLoop()
        let address = BusAddress.address(bus.address)
        caller = try BusConnection(on: loop, to: address, takesDescriptors: true)
        callee = try BusConnection(on: loop, to: address, takesDescriptors: calleeTakesDescriptors)
        let answer = try ask(
            BusCall(
                "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetNameOwner", [.string("org.freedesktop.DBus")]))
        #expect(answer == .success([.string("org.freedesktop.DBus")]))
        var names: [BusValue] = []
        callee.call(BusCall("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "ListNames", []), within: .seconds(5))
        {
            names = (try? $0.get())?.first?.array ?? []
        }
        try turn { !names.isEmpty }
        calleeName = names.compactMap(\.string).filter { $0.hasPrefix(":") }.max() ?? ""
    }

    func turn(for time: TimeSpan = .seconds(5), until condition: () -> Bool) throws {
        let hasCome = try loop.turn(for: time, until: condition)
        #expect(hasCome)
    }

    func ask(_ call: BusCall, within time: TimeSpan = .seconds(5)) throws -> Result<[BusValue], BusError>? {
        var answer: Result<[BusValue], BusError>?
        caller.call(call, within: time) { answer = $0 }
        try turn { answer != nil }
        return answer
    }

    func call(_ member: String, _ arguments: [BusValue] = []) -> BusCall {
        BusCall(calleeName, "/it", "org.example.It", member, arguments)
    }
}

@Suite("Message bus")
struct BusTests {
    @Test("every type of value comes back over the bus as it went out")
    func values() throws {
        let pair = try Pair()
        let object = try pair.callee.export(at: "/it") { $0.answer($0.arguments) }
        for value in everyType {
            #expect(try pair.ask(pair.call("Echo", [value])) == .success([value]), "\(value)")
        }
        #expect(try pair.ask(pair.call("Echo", everyType)) == .success(everyType))
        object.cancel()
    }

    @Test("a call without an answer fails with a timeout when its time is over, and the connection goes on")
    func deadline() throws {
        let pair = try Pair()
        var kept: [BusRequest] = []
        let object = try pair.callee.export(at: "/it") { kept.append($0) }
        let begun = SystemClock.monotonic()
        let failure = try pair.ask(pair.call("Sleep"), within: .milliseconds(100))
        guard case .failure(let error) = failure else { return #expect(failure == nil) }
        #expect(error.isTimeout)
        #expect(SystemClock.monotonic() - begun >= .milliseconds(100))
        // Answered later: the caller has heard its answer and hears no other.
        try pair.turn { !kept.isEmpty }
        try #require(kept.count == 1)
        kept[0].answer()
        #expect(try pair.ask(BusCall(pair.calleeName, "/it", "org.freedesktop.DBus.Peer", "Ping", [])) == .success([]))
        object.cancel()
    }

    @Test("a request is refused by name and sentence, and by itself where it is released unanswered")
    func refusal() throws {
        let pair = try Pair()
        let rejected = BusError(name: "org.bluez.Error.Rejected", message: "no")
        let object = try pair.callee.export(at: "/it") { request in
            if request.member == "Refuse" { request.refuse(rejected) }
        }
        #expect(try pair.ask(pair.call("Refuse")) == .failure(rejected))
        #expect(rejected.description == "no (org.bluez.Error.Rejected)")
        guard case .failure(let error) = try pair.ask(pair.call("Forget")) else { return #expect(Bool(false)) }
        #expect(error.name == "org.freedesktop.DBus.Error.Failed")
        object.cancel()
        guard case .failure(let gone) = try pair.ask(pair.call("Refuse")) else { return #expect(Bool(false)) }
        #expect(gone.isUnknownObject)
    }

    @Test("a call to a name that no program has says so")
    func absentName() throws {
        let pair = try Pair()
        guard case .failure(let error) = try pair.ask(BusCall("org.example.Nobody", "/", "org.example.It", "Ask", []))
        else { return #expect(Bool(false)) }
        #expect(error.isNobodyThere)
    }

    @Test("a descriptor that comes with a message is ours, and is closed when the last value goes")
    func descriptors() throws {
        let pair = try Pair()
        let pipe = try Pipe(ours: .both)
        let sent = BusDescriptor(owning: try pipe.writeEnd.duplicate().release())
        let object = try pair.callee.export(at: "/it") { $0.answer([.descriptor(sent)]) }
        var received = try pair.ask(pair.call("Give"))
        let raw = try #require(try received?.get().first?.descriptor?.raw)
        #expect(raw != sent.raw)
        #expect(write(raw, [7], 1) == 1)
        received = nil
        #expect(fcntl(raw, F_GETFD) == -1)
        object.cancel()
    }

    @Test("nobody on the bus can send descriptors to a connection that takes none")
    func refusesDescriptors() throws {
        let pair = try Pair(calleeTakesDescriptors: false)
        let pipe = try Pipe(ours: .both)
        let sent = BusDescriptor(owning: try pipe.writeEnd.duplicate().release())
        var heard = 0
        let object = try pair.callee.export(at: "/it") { request in
            heard += 1
            request.answer()
        }
        guard case .failure(let error)? = try pair.ask(pair.call("Take", [.descriptor(sent)])) else {
            Issue.record("it was sent")
            return
        }
        #expect(error.name == "org.freedesktop.DBus.Error.NotSupported" && heard == 0)
        #expect(try pair.ask(pair.call("Take")) == .success([]))
        object.cancel()
    }

    @Test("an answer that brings a descriptor is asked for on a thread")
    func asksOnThread() throws {
        let pair = try Pair()
        let pipe = try Pipe(ours: .both)
        let sent = BusDescriptor(owning: try pipe.writeEnd.duplicate().release())
        let object = try pair.callee.export(at: "/it") { $0.answer([.descriptor(sent)]) }
        let job = try BusAddress.address(pair.bus.address).ask(pair.call("Give"), within: .seconds(20))
        var answer: Result<[BusValue], BusError>?
        try pair.turn(for: .seconds(20)) {
            answer = answer ?? job.removeResult()
            return answer != nil
        }
        #expect(try answer?.get().first?.descriptor != nil)
        object.cancel()
    }

    @Test("a subscription receives signals that match its rule, by well-known sender too, until it is released")
    func signals() throws {
        let pair = try Pair()
        var heard: [String] = []
        let rule = BusRule(
            sender: "org.freedesktop.DBus", interface: "org.freedesktop.DBus", member: "NameOwnerChanged")
        var subscription: BusSubscription? = try pair.caller.subscribe(rule) { signal in
            heard.append(signal.arguments.first?.string ?? "?")
        }
        var narrow = rule
        narrow.argument = "org.example.Somebody"
        var named: [[BusValue]] = []
        let second = try pair.caller.subscribe(narrow) { named.append($0.arguments) }
        try pair.bus.runMock(of: "logind", as: "org.freedesktop.login1")
        try pair.turn { heard.contains("org.freedesktop.login1") }
        #expect(named.isEmpty)
        subscription = nil
        heard = []
        pair.bus.dismissGuests()
        #expect(try pair.ask(BusCall(pair.calleeName, "/", "org.freedesktop.DBus.Peer", "Ping", [])) == .success([]))
        #expect(heard.isEmpty && subscription == nil)
        second.cancel()
    }

    @Test("when the bus dies every open call fails, the loss is told once, and nothing blocks")
    func loss() throws {
        let pair = try Pair()
        var kept: [BusRequest] = []
        let object = try pair.callee.export(at: "/it") { kept.append($0) }
        var losses = 0
        pair.caller.didLoseConnection = { losses += 1 }
        var answer: Result<[BusValue], BusError>?
        var wasLost = false
        pair.caller.call(pair.call("Wait"), within: .seconds(60)) {
            answer = $0
            wasLost = pair.caller.isLost
        }
        try pair.turn { !kept.isEmpty }
        pair.bus.kill()
        try pair.turn { losses == 1 && answer != nil }
        guard case .failure = answer else { return #expect(Bool(false)) }
        #expect(wasLost, "a call that the loss fails can tell")
        #expect(pair.caller.isLost)
        #expect(try pair.ask(pair.call("Wait")) != nil)
        object.cancel()
    }

    @Test("a bus that is not there is an error that names it")
    func absent() throws {
        let loop = try EventLoop()
        #expect(throws: SystemError.self) {
            _ = try BusConnection(on: loop, to: .address("unix:path=/nonexistent/bus"))
        }
    }
}
