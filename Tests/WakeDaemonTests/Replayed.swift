// What came of a trace that was played without a handler process, for the tests that play one.
import WakeCore
import WakeEngine
import WakeModel
import WakeProfiles
import WakeTrace

struct Replayed {
    /// What handlers were given.
    let lines: [JSONValue]
    /// The decision log.
    let decisions: String
    let outcome: VirtualReplay.Outcome

    /// - Parameters:
    ///   - work: how long a model works before it acknowledges.
    ///   - jobs: how long at a long job; as long as at anything else where it is nil.
    init(
        trace text: String, profiles: ProfileLibrary = ProfileLibrary(), manifests: [HandlerManifest] = [],
        work: TimeSpan = .zero, jobs: TimeSpan? = nil, settings: HandlerSettings = .forWholeTrace(durability: .ram)
    ) throws {
        let replay = try VirtualReplay(
            TraceReader(bytes: Array(text.utf8)), profiles: profiles, manifests: manifests, work: work, jobs: jobs)
        var (log, printed): ([UInt8], [UInt8]) = ([], [])
        replay.logDecisions { log += $0 }
        outcome = try replay.play(settings: settings) { printed += $0 }
        decisions = String(decoding: log, as: UTF8.self)
        lines = printed.split(separator: UInt8(ascii: "\n")).compactMap { try? JSONValue(parsing: $0) }
    }

    /// Of a machine that was started at seven in the morning of a Saturday, in UTC.
    init(
        header: String = "", _ operations: String..., work: TimeSpan = .zero,
        settings: HandlerSettings = .forWholeTrace(durability: .ram)
    ) throws {
        let head = """
            wakebridge-trace 1
            clock 2026-11-21T07:00:00Z \(header)
            device 1 bluetooth C0:F1:F2:F3:F4:01 alias="strap"

            """
        try self.init(
            trace: head + operations.joined(separator: "\n") + "\nend\n", work: work, settings: settings)
    }

    /// The seconds of the decision log at which a handler has a decision with these words.
    func seconds(of words: String, by handler: String = "w") -> [Double] {
        decisions.split(separator: "\n").filter { $0.contains(" \(handler) ") && $0.contains(words) }.compactMap {
            $0.split(separator: " ").first.flatMap { Double($0) }.map { $0 / 1_000_000 }
        }
    }

    /// The wall clock's word on each event of the type, which is named without `wakebridge.`.
    func times(of type: String) -> [String] {
        lines.filter { $0["type"]?.string == "wakebridge.\(type)" }.compactMap { $0["time"]?.string }
    }

    /// What each of them holds under a name.
    func values(_ name: String, of type: String) -> [String] {
        lines.filter { $0["type"]?.string == "wakebridge.\(type)" }.compactMap { $0["data"]?[name]?.string }
    }
}
