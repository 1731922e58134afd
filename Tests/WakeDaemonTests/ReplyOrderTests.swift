// Our end of descriptor 3, read step by step: what a line causes while others wait behind it.
import Glibc
import Testing
import WakeCore
import WakeJournal
import WakeLoop
import WakeModel
import WakeProfiles
import WakeSystem

@testable import WakeDaemon
@testable import WakeEngine

@Suite("Replies")
struct ReplyOrderTests {
    @Test("lines reach the core in order, although the effect of the first one reads those behind it")
    func keepsOrder() throws {
        let journal = try Journal(
            opening: JournalSettings(runtimeDirectory: nil, stateDirectory: nil), bootID: "boot")
        let clock = VirtualClock(wall: WallTime(microseconds: 1_700_000_000_000_000))
        let speaker = try Speaker(["one", "two", "three"].map { "{\"checkpoint\":\"\($0)\"}\n" }.joined())
        let turn = try Turn(
            journal: journal, clock: clock, recovery: journal.recover(), limits: .none, executor: speaker,
            agenda: AgendaStage(journal: journal, catalog: Catalog(profiles: ProfileLibrary()), seed: 0))
        let device = Device(uri: "/d/1", alias: "strap", profile: "strap", kind: .bluetoothCentral)
        turn.ingest(.device(EventOrigin(rawValue: 1), device))
        var settings = HandlerSettings()
        settings.modes = [.bluetoothCentral]
        settings.subscriptions = [Subscription(profile: "strap")]
        let handler = journal.handlerID(named: "one")
        turn.ingest(.configure(handler, settings, isStopped: false, restarts: false))
        turn.end()
        let beat = DeviceEvent.Kind.data(.report(0), [7])
        turn.ingest(.event(DeviceEvent(origin: EventOrigin(rawValue: 1), kind: beat, stamp: clock.stamp())))
        // Long enough that the first line ends the turn, and the delivery is written during the read.
        clock.advance(by: .milliseconds(10))
        speaker.read(in: turn)
        #expect(speaker.deliveries == 1)
        turn.end()
        #expect(journal.checkpoint(of: handler) == "three")
    }

    @Test("a handler that had spent its allowance when it was held is read again after its release")
    func holdWhileWaiting() throws {
        let loop = try EventLoop()
        let speaker = try Speaker(String(repeating: "a\n", count: LineAllowance.burst * 2))
        let reader = speaker.reader
        try reader.listen(on: loop, of: speaker) { $0.count() }
        while !speaker.isThrottled { speaker.count() }
        #expect(reader.hold())
        var isOver = false
        let later = try loop.timer(on: .monotonic) { isOver = true }
        later.arm(at: SystemClock.monotonic() + .milliseconds(150))
        while !isOver { try loop.runOnce(timeout: .milliseconds(10)) }
        let lines = speaker.lines
        reader.release()
        let end = SystemClock.monotonic() + .seconds(2)
        while speaker.lines == lines, SystemClock.monotonic() < end {
            try loop.runOnce(timeout: .milliseconds(10))
        }
        #expect(speaker.lines > lines)
        reader.close()
    }
}

extension ReplyOrderTests {
    @Test(
        "lines read before a hold are passed on after the release, though the handler writes nothing more")
    func holdAmidLines() throws {
        let loop = try EventLoop()
        let speaker = try Speaker(String(repeating: "a\n", count: 20), isOpen: true)
        let reader = speaker.reader
        try reader.listen(on: loop, of: speaker) { $0.count() }
        guard case .line = reader.next() else { throw Unheard() }
        #expect(reader.hold())
        speaker.count()
        #expect(speaker.lines == 0)
        reader.release()
        let end = SystemClock.monotonic() + .seconds(5)
        while speaker.lines < 19, SystemClock.monotonic() < end {
            try loop.runOnce(timeout: .milliseconds(10))
        }
        #expect(speaker.lines == 19)
        reader.close()
    }

    private struct Unheard: Error {}
}

/// The reply side of a process, all written at once; it is read whenever a delivery is written to it.
private final class Speaker: EffectExecutor {
    func processorTime(of handler: HandlerID) -> TimeSpan? { nil }
    let reader: ReplyReader
    private(set) var deliveries = 0
    private(set) var lines = 0
    private(set) var isThrottled = false

    private let writeEnd: FileDescriptor?

    /// - Parameter isOpen: it may write more.
    init(_ text: String, isOpen: Bool = false) throws {
        let ends = try Pipe(ours: .both).releaseEnds()
        let bytes = Array(text.utf8)
        #expect(write(ends.writeEnd, bytes, bytes.count) == bytes.count)
        writeEnd = isOpen ? FileDescriptor(owning: ends.writeEnd) : nil
        if !isOpen { close(ends.writeEnd) }
        reader = ReplyReader(
            PipeEnd(FileDescriptor(owning: ends.readEnd)), space: ReadSpace(), ProcessErrorLog(log: Log("test"), pid: 0)
        )
    }

    func count() {
        while let news = reader.next() {
            switch news {
            case .line: lines += 1
            case .throttled(let isThrottled): self.isThrottled = isThrottled
            case .drained: break
            }
        }
    }

    func read(in turn: Turn) {
        while case .line(let line) = reader.next() {
            guard let reply = try? ReplyLine.parse(line.get()) else { continue }
            turn.ingest(.reply(HandlerID(rawValue: 1), Epoch(rawValue: 1), reply))
        }
    }

    func perform(_ effect: Effect, in turn: Turn) {
        guard case .deliver = effect else { return }
        deliveries += 1
        read(in: turn)
    }

    func hear(_ handler: HandlerID, _ epoch: Epoch) {}
}
