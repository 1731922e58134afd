// An open hidraw node: each report is a message of the stream that bears its number.
import WakeModel
import WakeSystem

final class HidNode: OpenNode {
    private let handle: HidHandle
    private var backlog: ReportBacklog

    init(_ handle: HidHandle, at now: Instant) {
        self.handle = handle
        backlog = ReportBacklog(emptyAt: now)
    }

    var raw: Int32 { handle.node.raw }
    var remarks: [String] {
        handle.node.fault.map { ["its report descriptor is not as it must be: \($0)"] } ?? []
    }

    func drain(at now: Instant, _ tell: (NodeWord, Instant) -> Void) throws(SystemError) -> NodeDrain {
        // Reads first and reports after: the kernel's room for reports must be empty before anything else takes time.
        var words: [(word: NodeWord, at: Instant)] = []
        defer { for one in words { tell(one.word, one.at) } }
        return try backlog.drain(into: &words, SystemClock.monotonic) { () throws(SystemError) in
            try handle.node.read()
        }
    }

    /// A report is taken whole, and not before the device has it, for which it has 5 s: a thread waits for that. A stream
    /// named with it must be its own.
    func write(_ bytes: ArraySlice<UInt8>, to channel: Channel?) throws(SystemError) -> NodeWriting {
        switch channel {
        case .report(let number)? where number != bytes.first:
            return .refused("a report begins with its number, so \"report-\(number)\" with \([number].hexadecimal)")
        case .report?, nil:
            return .underWay(
                try BackgroundJob { [handle, report = Array(bytes)] in
                    do throws(SystemError) { return .success(try handle.node.write(report)) } catch {
                        return .failure(error)
                    }
                })
        case .stream?, .fragment?, .characteristic?:
            return .refused("its streams are reports, such as \"report-0\"")
        }
    }
}

/// The kernel keeps 63 reports for a reader and drops later ones without a report. A reader that finds as many waiting
/// does not know whether there were more.
struct ReportBacklog: Hashable, Sendable {
    private static let kept = 63
    /// When nothing was waiting last.
    private var emptyAt: Instant
    private var count = 0

    init(emptyAt: Instant) { self.emptyAt = emptyAt }

    /// Reads until nothing waits, or others must have their turn. It reads the clock at each report. This process may
    /// lose its processor amid them, and the gap must include reports that are dropped meanwhile.
    mutating func drain(
        into words: inout [(word: NodeWord, at: Instant)], _ clock: () -> Instant,
        reading: () throws(SystemError) -> NodeReading<HidReport>
    ) throws(SystemError) -> NodeDrain {
        for _ in 1...DrainLimit.reads {
            let before = clock()
            switch try reading() {
            case .content(let report):
                words.append((.data(.report(report.number), report.bytes), before))
                let after = clock()
                if let loss = recordRead(at: after) { words.append((loss, after)) }
            case .wouldBlock:
                end(at: before)
                return .empty
            case .closed: return .gone
            }
        }
        return .more
    }

    /// Counts a report; returns the possible loss behind it if as many waited as there is room for.
    mutating func recordRead(at now: Instant) -> NodeWord? {
        count += 1
        guard count == Self.kept else { return nil }
        count = 0
        defer { emptyAt = now }
        return .loss(from: emptyAt, to: now)
    }

    mutating func end(at now: Instant) {
        count = 0
        emptyAt = now
    }
}
