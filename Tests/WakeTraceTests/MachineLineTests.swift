// Lines of the machine and of handlers: what is read, what is refused and where, and that writing is the inverse of reading.
import TestBench
import Testing
import WakeAgenda
import WakeModel
import WakeTrace

private let prologue = """
    wakebridge-trace 1
    clock 2026-11-21T07:42:46.727125Z zone=Europe/Berlin seed=18446744073709551615
    device 1 bluetooth C0:F1:F2:F3:F4:01 alias="chest-strap"

    """

private let everything =
    prologue + """
        +60.000000 machine condition power off
        +0.000000 machine condition mount:/data on
        +0.000000 machine condition "unlocked:/srv/my files" off
        +0.000000 machine clock +3600.000000
        +0.000000 machine clock -0.000000001
        +0.000000 machine synchronized off
        +0.000000 machine zone Etc/GMT+1
        +1.500000 machine sleep 28800.000000
        +0.000000 machine restart
        +0.000000 machine reboot 60.250000
        +0.000000 1 gap link for=1.500000
        +0.000000 handler hr say {"alarm":{"id":"tea","in_s":240},"ref":1}
        +0.000000 handler hr message {"payload":"hi","topic":"cfg","urgency":"high","ttl_s":60}
        +0.000000 handler hr manifest {"alarms":[{"id":"pill","daily":["07:30"]}]}
        +0.000000 handler hr transfer photos/17 done 511002
        +0.000000 handler hr transfer photos/18 failed checksum
        +0.000000 handler hr transfer photos/19 challenged
        +0.000000 handler hr remove
        +0.000000 handler hr readable sip 212
        +0.000000 handler hr central C0:00:00:00:00:01 written 2a39 0102
        +0.000000 handler hr central C0:00:00:00:00:01 written 2a39
        +0.000000 handler hr central C0:00:00:00:00:01 read 2a38
        +0.000000 handler hr central C0:00:00:00:00:01 subscribed 2a37
        +0.000000 handler hr central C0:00:00:00:00:01 unsubscribed 2a37
        +0.000000 handler hr attach
        +0.000000 handler hr detach
        +0.000000 handler "two words" stop
        +0.000000 handler hr start
        end

        """

private func read(_ text: String) throws -> (header: TraceHeader, operations: [TraceOperation]) {
    var reader = TraceReader(bytes: Array(text.utf8))
    let header = try reader.header()
    var operations: [TraceOperation] = []
    while let operation = try reader.next() { operations.append(operation) }
    return (header, operations)
}

private func write(_ header: TraceHeader, _ operations: [TraceOperation]) -> String {
    String(decoding: TraceWriter.whole(header, operations), as: UTF8.self)
}

/// Makes any operation that a trace can hold.
private struct OperationMaker {
    var dice: Dice

    mutating func operation(at offset: TimeSpan, _ clock: TraceClock) -> TraceOperation {
        let subject: TraceOperation.Subject =
            switch dice.below(4) {
            case 0: .device(dice.below(2), kind(at: clock.wall(at: offset)))
            case 1: .handler(name(), deed())
            default: .machine(change())
            }
        return TraceOperation(offset: offset, subject: subject)
    }

    private mutating func kind(at wall: WallTime) -> DeviceEvent.Kind {
        switch dice.below(4) {
        case 0: .connected(folded: UInt32(dice.below(3)))
        case 1: .disconnected(reason: name(), folded: 0)
        case 2: .data(.report(UInt8(dice.below(256))), (0..<dice.below(9)).map { _ in UInt8(dice.below(256)) })
        default:
            .gap(
                Gap(
                    cause: .link, count: 3, first: nil, last: nil,
                    from: wall - .microseconds(Int64(dice.below(9_000_000))),
                    to: wall))
        }
    }

    private mutating func change() -> MachineOperation {
        switch dice.below(7) {
        case 0: .condition(condition(), isTrue: dice.isOne(in: 2))
        case 1: .clock(TimeSpan(nanoseconds: Int64(dice.below(6_000_000_000_000_000_000)) - 3_000_000_000_000_000_000))
        case 2: .synchronized(dice.isOne(in: 2))
        case 3: .zone(["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT-14"][dice.below(4)])
        case 4: .sleep(span())
        case 5: .restart
        default: .reboot(span())
        }
    }

    private mutating func condition() -> String {
        guard dice.isOne(in: 2) else { return ["mount:/", "unlocked:/"][dice.below(2)] + name() }
        return ["power", "time-synced", "idle", "cool"][dice.below(4)]
    }

    private mutating func deed() -> HandlerOperation {
        switch dice.below(11) {
        case 10: .central("C0:00:00:00:00:0\(dice.below(9))", central())
        case 9: .readable(name(), bytes: Int64(dice.below(1_000)))
        case 8: .message("{\"payload\": \"ü \(dice.below(100))\"}")
        case 7: .transfer("a b/\(dice.below(9))", end())
        case 5: .manifest("{\"jobs\":[ ],\"poll\":{\"min_interval\":\"\(1 + dice.below(9))h\"}}")
        case 6: .remove
        case 0: .attach
        case 1: .detach
        case 2: .stop
        case 3: .start
        default: .say("{\"cancel\": { \"alarm\":\"ü \\\" \(dice.below(100))\"} }")
        }
    }

    private mutating func central() -> CentralDeed {
        let uuid = BluetoothUUID(short: 0x2a30 + UInt32(dice.below(9)))
        return switch dice.below(4) {
        case 0: .written(uuid, [UInt8](repeating: 7, count: dice.below(3)))
        case 1: .read(uuid)
        case 2: .subscribed(uuid)
        default: .unsubscribed(uuid)
        }
    }

    private mutating func end() -> TracedTransfer {
        switch dice.below(3) {
        case 0: .done(bytes: Int64(dice.below(1_000)))
        case 1: .failed("checksum")
        default: .challenged
        }
    }

    private mutating func name() -> String {
        ["hr", "two words", "a\"b\\c", "täglich", "new\nline", "#1", "x=y"][dice.below(7)]
    }

    /// Up to four days, each third one a whole number of seconds.
    mutating func span() -> TimeSpan {
        dice.isOne(in: 3)
            ? .seconds(Int64(dice.below(345_600))) : TimeSpan(nanoseconds: Int64(dice.below(345_600_000_000_000)))
    }
}

@Suite("Lines of the machine and of handlers")
struct MachineLineTests {
    @Test("a canonical trace with every line of the machine and of handlers is read and written back byte for byte")
    func roundTrip() throws {
        let (header, operations) = try read(everything)
        #expect(header.zone == "Europe/Berlin" && header.seed == .max)
        #expect(operations[3].subject == .machine(.clock(.seconds(3600))))
        #expect(operations[11].subject == .handler("hr", .say(#"{"alarm":{"id":"tea","in_s":240},"ref":1}"#)))
        #expect(operations.count == everything.split(separator: "\n").count { $0.hasPrefix("+") })
        #expect(operations.suffix(2).map(\.subject) == [.handler("two words", .stop), .handler("hr", .start)])
        #expect(write(header, operations) == everything)
    }

    @Test("what the maker of a hundred random traces put into each is read back from what was written")
    func randomRoundTrip() throws {
        for seed in 0..<100 {
            var maker = OperationMaker(dice: Dice(UInt64(seed)))
            let devices = (1...2).map { TraceDevice(number: $0 * 7, kind: .externalAccessory, address: "2341:\($0)") }
            let header = TraceHeader(
                start: WallTime(microseconds: 1_795_246_966_727_125),
                zone: maker.dice.isOne(in: 2) ? "Asia/Tokyo" : nil,
                seed: maker.dice.isOne(in: 2) ? maker.dice.next() : 0, devices: devices)
            var (offset, clock) = (TimeSpan.zero, TraceClock(start: header.start))
            let operations = (0..<50).map { _ in
                offset = offset + (maker.dice.isOne(in: 3) ? .zero : maker.span())
                let operation = maker.operation(at: offset, clock)
                clock.follow(operation)
                return operation
            }
            let back = try read(write(header, operations))
            #expect(back.header.zone == header.zone && back.header.seed == header.seed)
            #expect(back.operations.map { TraceOperation(offset: $0.offset, subject: $0.subject) } == operations)
        }
    }

    @Test("a header without a seed or a zone has the seed 0 and no zone, as it had before there were any")
    func oldHeader() throws {
        let text = "wakebridge-trace 1\nclock 2026-11-21T07:42:46.000000Z\nend\n"
        let (header, operations) = try read(text)
        #expect(header.seed == 0 && header.zone == nil)
        #expect(write(header, operations) == text)
    }

    @Test("a gap after a sleep, a reboot and a clock that was set ends at what the wall clock says then")
    func wallOfGap() throws {
        let lines = ["machine sleep 100", "machine clock -30.5", "machine reboot 7", "1 gap link for=2"]
        let (header, operations) = try read(prologue + lines.map { "+1 \($0)\n" }.joined() + "end\n")
        guard case .gap(let gap) = operations.last?.kind else { return #expect(Bool(false), "no gap") }
        #expect(gap.to == header.start + .milliseconds(4_000 + 100_000 - 30_500 + 7_000))
        #expect(gap.from == gap.to - .seconds(2))
    }

    @Test(
        "a faulty line of the machine or of a handler is named by line, column and reason",
        arguments: [
            ("+0 machin sleep 1", 4, "did you mean `machine`?"), ("+0 handle hr stop", 4, "did you mean `handler`?"),
            ("+0 phone off", 4, "known are machine, handler"),
            ("+0 machine", 11, "what happens to the machine is missing"),
            ("+0 machine slep 1", 12, "did you mean `sleep`?"), ("+0 machine dance", 12, "known are condition, clock"),
            ("+0 machine condition", 21, "the condition is missing"),
            ("+0 machine condition powr off", 22, "did you mean `power`?"),
            ("+0 machine condition time-sync on", 22, "did you mean `time-synced`?"),
            ("+0 machine condition mont:/data on", 22, "did you mean `mount`?"),
            ("+0 machine condition mount on", 22, "`mount:/data`"),
            ("+0 machine condition unlocked:srv on", 22, "path from the root"),
            ("+0 machine condition power:/x on", 22, "unknown condition"),
            ("+0 machine condition power", 27, "`on` or `off` is missing"),
            ("+0 machine condition power of", 28, "did you mean `off`?"),
            ("+0 machine condition power on now", 31, "more than this line may hold"),
            ("+0 machine clock", 17, "needs its sign"), ("+0 machine clock 3600", 18, "needs its sign"),
            ("+0 machine clock +", 19, "must be seconds"), ("+0 machine clock --5", 19, "negative"),
            ("+0 machine clock +1h", 19, "must be seconds"), ("+0 machine clock -3153600001", 19, "a hundred years"),
            ("+0 machine clock +99999999999", 19, "a hundred years"),
            ("+0 machine synchronized yes", 25, "known are on, off"),
            ("+0 machine zone", 16, "the name of the zone is missing"),
            ("+0 machine zone ../etc/passwd", 17, "no name of a time zone"),
            ("+0 machine zone /etc/localtime", 17, "no name of a time zone"),
            ("+0 machine zone Europe/", 17, "no name of a time zone"),
            ("+0 machine sleep", 17, "must be seconds"), ("+0 machine sleep -1", 18, "negative"),
            ("+0 machine sleep 8h", 18, "must be seconds"), ("+0 machine sleep 315360001", 18, "over ten years"),
            ("+0 machine sleep 315360000", 1, "the trace is over ten years long"),
            ("+0 machine restart 5", 20, "`5` is more"),
            ("+0 machine reboot", 18, "must be seconds"), ("+0 machine reboot 1.", 21, "no digit after the point"),
            ("+0 handler", 11, "the handler's name is missing"), ("+0 handler \"\" stop", 12, "name is empty"),
            ("+0 handler \"hr stop", 12, "no closing"), ("+0 handler hr", 14, "what the handler does is missing"),
            ("+0 handler hr sya {}", 15, "did you mean `say`?"), ("+0 handler hr atach", 15, "did you mean `attach`?"),
            ("+0 handler hr stop now", 20, "more than this line may hold"),
            ("+0 handler hr readable sip", 27, "the number of bytes"),
            ("+0 handler hr central", 22, "the address of the central"),
            ("+0 handler hr central strap written 2a39", 23, "no address"),
            ("+0 handler hr central C0:00:00:00:00:01 wrote 2a39", 41, "unknown word"),
            ("+0 handler hr central C0:00:00:00:00:01 written pulse", 49, "no UUID"),
            ("+0 handler hr central C0:00:00:00:00:01 written 2a39 0", 54, "in hexadecimal"),
            ("+0 handler hr readable sip many", 28, "no number of bytes"),
            ("+0 handler hr readable sip -1", 28, "no number of bytes"),
            ("+0 handler hr say", 18, "the handler writes is missing"),
            ("+0 handler hr say ack 7", 19, "no JSON"), ("+0 handler hr say {\"ack\":7", 27, "no JSON"),
            ("+0 handler hr say {\"ack\":7} x", 29, "no JSON"), ("+0 handler hr say [7]", 19, "no object"),
            ("+0 handler hr message", 22, "the message is missing"), ("+0 handler hr message hi", 23, "no JSON"),
            ("+0 handler hr manifest", 23, "the manifest is missing"),
            ("+0 handler hr manifest poll", 24, "the manifest is no JSON"),
            ("+0 handler hr manifest []", 24, "the manifest is no object such as {\"poll\""),
            ("+0 handler hr transfer", 23, "the name of the transfer is missing"),
            ("+0 handler hr transfer photos done", 24, "no session and id such as photos/17"),
            ("+0 handler hr transfer photos/17", 33, "what becomes of the transfer is missing"),
            ("+0 handler hr transfer photos/17 don", 34, "did you mean `done`?"),
            ("+0 handler hr transfer photos/17 done -1", 39, "no number of bytes"),
            ("+0 handler hr transfer photos/17 failed", 40, "why the transfer failed is missing"),
            ("+0 handler hr remove it", 22, "more than this line may hold"),
        ] as [(String, Int, String)])
    func faults(line: String, column: Int, reason: String) throws {
        let error = thrown(TraceError.self) { try read(prologue + "+1 1 connect\n" + line + "\nend\n") }
        #expect(error?.line == 5)
        #expect(error?.column == column, "\(error?.description ?? "")")
        #expect(error?.reason.contains(reason) == true, "\(error?.description ?? "")")
    }

    @Test(
        "a faulty key of the header is named by line, column and reason",
        arguments: [
            ("sed=7", 28, "did you mean `seed`?"), ("seed=-1", 33, "whole number"),
            ("seed=7 seed=8", 35, "is there twice"),
            ("seed=18446744073709551616", 33, "is over 18446744073709551615"), ("seed", 32, "`=` belongs after"),
            ("zone=", 33, "the name of the zone is missing"), ("zone=Mars!", 33, "no name of a time zone"),
            ("zona=UTC", 28, "did you mean `zone`?"),
        ] as [(String, Int, String)])
    func headerFaults(key: String, column: Int, reason: String) throws {
        let error = thrown(TraceError.self) {
            try read("wakebridge-trace 1\nclock 2026-11-21T07:42:46Z \(key)\nend\n")
        }
        #expect(error?.line == 2)
        #expect(error?.column == column, "\(error?.description ?? "")")
        #expect(error?.reason.contains(reason) == true, "\(error?.description ?? "")")
    }

    @Test(
        "what the machine or a handler does is the same text by itself as in its line, and what a device does has none")
    func deeds() throws {
        for operation in try read(everything).operations where operation.kind == nil {
            let deed = try #require(operation.subject.deed)
            #expect(everything.contains(" \(deed)\n"))
            #expect(try TraceOperation.Subject(deed: deed) == operation.subject)
        }
        #expect(TraceOperation.Subject.device(0, .connected(folded: 0)).deed == nil)
        #expect(thrown(TraceError.self) { try TraceOperation.Subject(deed: "1 connect") } != nil)
    }

    @Test("a trace knows the conditions that the agenda knows, by the same words")
    func conditions() throws {
        #expect(Set(TraceCondition.plain) == Set(Condition.plain.map(\.word)))
        let words = Condition.plain.map(\.word) + [Condition.mount("/data"), .unlocked("/srv/h")].map(\.word)
        let text = prologue + words.map { "+0 machine condition \($0) on\n" }.joined() + "end\n"
        #expect(
            try read(text).operations.map(\.subject) == words.map { .machine(.condition($0, isTrue: true)) })
    }
}
