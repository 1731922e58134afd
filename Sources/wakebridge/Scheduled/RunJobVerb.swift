// wakebridge run-job: starts a job of a handler now.
import WakeArguments
import WakeModel
import WakeSystem

extension Verb {
    static var runJob: Verb {
        Verb(
            name: "run-job", summary: "start a job of a handler now", synopsis: ["[--json] HANDLER ID"],
            detail: """
                The job waits for no time, for nothing that a deadline would waive, and for no person to attach. What cannot
                be waived it still waits for, such as mount:/data, and for one of the two slots of long jobs.
                """,
            examples: ["wakebridge run-job hr upload"],
            flags: [jsonFlag] + daemonFlags, operands: [.handler, .job]
        ) { words throws(Complaint) in
            try words.atMost(2)
            guard let handler = words.operands.first else { throw .usage("a HANDLER must be named") }
            guard words.operands.count == 2 else { throw .usage("the ID of a job must be named") }
            return try raise(words, .job(words.operands[1]), of: handler)
        }
    }

    /// Orders the daemon to raise an entry, and returns its new state.
    static func raise(_ words: ParsedArguments, _ entry: RaisedEntry, of handler: String) throws(Complaint) -> Int32 {
        try order(words, path(ofHandler: handler, entry.path)) { answer in
            let standing = ScheduleEntry(entry: answer["entry"] ?? .null, now: SystemClock.wall())
            return answer["entry"]?["state"] == nil ? "\(entry.words) is raised" : standing.sentence
        }
    }
}

/// The entries that a person can have raised.
enum RaisedEntry {
    case job(String)
    case alarm(String)
    case poll

    /// Below the handler's.
    var path: String {
        switch self {
        case .job(let id): "jobs/\(id.percentEncoded)/run"
        case .alarm(let id): "alarms/\(id.percentEncoded)/fire"
        case .poll: "poll/run"
        }
    }

    var words: String {
        switch self {
        case .job(let id): "job \(id.printable)"
        case .alarm(let id): "alarm \(id.printable)"
        case .poll: "the poll"
        }
    }
}
