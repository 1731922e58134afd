// Lines of occasions for the tests, and a session to which they are fed.
@testable import WakeHandler

/// A line of an alarm, a poll or a job, such as `occasion(5, "job", "backup", …)`.
func occasion(_ sequence: Int, _ type: String, of entry: String, attempt: Int = 1, _ data: String) -> String {
    let source = type.prefix { $0 != "." }
    return "{\"specversion\":\"1.0\",\"id\":\"j1-\(sequence)\",\"source\":\"/\(source)/model/\(entry)\","
        + "\"type\":\"wakebridge.\(type)\",\"subject\":\"\(entry)\",\"time\":\"2026-11-21T07:42:46.727125Z\","
        + "\"datacontenttype\":\"application/json\",\"authenticated\":true,\"seq\":\(sequence),\"attempt\":\(attempt),"
        + "\"budgetms\":30000,\"data\":\(data)}"
}

func job(_ sequence: Int, _ id: String = "backup", kind: String = "processing", attempt: Int = 1, more: String = "")
    -> String
{
    occasion(
        sequence, "job.due", of: id, attempt: attempt,
        "{\"job\":\"\(id)\",\"kind\":\"\(kind)\",\"deadline\":\"2026-11-22T07:42:46Z\",\"waived\":[\"power\"]\(more)}")
}

func alarm(_ sequence: Int, _ id: String = "pill", attempt: Int = 1) -> String {
    occasion(
        sequence, "alarm.fired", of: id, attempt: attempt,
        "{\"id\":\"\(id)\",\"due\":\"2026-11-21T07:42:40Z\",\"late_s\":6,\"missed\":2,\"data\":{\"dose\":2},\"alert\":\"Now\"}"
    )
}

func poll(_ sequence: Int, last: String = "\"useful\"") -> String {
    occasion(sequence, "poll.due", of: "poll", "{\"interval_s\":900,\"last\":\(last)}")
}

func expiring(_ reason: String, _ open: Int...) -> String {
    notice("expiring", "{\"reason\":\"\(reason)\",\"remaining_ms\":2000,\"tasks\":[],\"open\":\(open)}")
}

/// A session in memory: lines go in, and what it wrote comes out.
@MainActor
struct Fed {
    let session: BackgroundSession

    init(_ delegate: (any BackgroundSessionDelegate)? = nil) { session = BackgroundSession(collectingWith: delegate) }

    func feed(_ lines: String...) { session.receive(lines.flatMap { Array("\($0)\n".utf8) }) }
    var answers: [String] { textLines(session.drainLines().replies) }

    /// Until the tasks that were begun wait for something.
    func settle() async { for _ in 0..<20 { await Task.yield() } }

    /// Until no closure that awaits is left.
    func finishWork() async { while session.isPerforming { await Task.yield() } }

    /// What the session was told of, after its input has ended.
    func notices() async -> [SessionNotice] {
        session.endInput()
        var told: [SessionNotice] = []
        for await notice in session.notices { told.append(notice) }
        return told
    }
}

extension [SessionNotice] {
    var errorCodes: [String] { compactMap { if case .failed(let error) = $0 { error.code.word } else { nil } } }
}
