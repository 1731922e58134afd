// The handlers of a round, and the trace that feeds them.
import TestBench
import WakeModel

/// Three that always behave, and four whose mood is changed.
enum Crew {
    struct Member {
        var id: String
        var devices: [Int]
        var durability = "run"
        var isSteady = false
        var isOneshot = false
        var keepsEventsWhenStopped = false
    }

    static let all = [
        Member(id: "bulk", devices: [1], isSteady: true),
        Member(id: "sure", devices: [2], durability: "disk", isSteady: true),
        Member(id: "both", devices: [2, 3], isSteady: true),
        Member(id: "mona", devices: [3]),
        Member(id: "nick", devices: [3, 4], keepsEventsWhenStopped: true),
        Member(id: "olaf", devices: [4], isOneshot: true),
        Member(id: "quin", devices: [4], durability: "disk", keepsEventsWhenStopped: true),
    ]
    static let moody = all.filter { !$0.isSteady }.map(\.id)

    /// Of those that misbehave, times are short, so that consequences come within a round.
    static let shortTimers = """
        budget: "1s", warn: "200ms", grace: "300ms", failure_base: "1ms", failure_cap: "5ms", terminate: "1s",
        flood: "1s", retry_base: "10s"
        """
    static let longTimers = "failure_base: \"1ms\", failure_cap: \"5ms\""
}

extension Crew.Member {
    func manifest(_ program: String, _ folder: String) -> String {
        let user = Machine.isRoot ? "user: \"root\", " : ""
        let watch = devices.map {
            "{ profile: \"heart-rate-monitor\", device: \"strap-\($0)\", durability: \"\(durability)\" }"
        }
        return """
            { exec: ["\(program)", "\(id)", "\(folder)"], \(user)modes: ["bluetooth-central"],
              watch: [\(watch.joined(separator: ", "))], max_batch: \(isOneshot ? 16 : isSteady ? 1024 : 64),
              lifecycle: "\(isOneshot ? "oneshot" : "resident")",
              stop_events: "\(keepsEventsWhenStopped ? "keep" : "drop")",
              timers: { \(isSteady ? Crew.longTimers : Crew.shortTimers) } }
            """
    }

    /// What the reckoning is told of it.
    var description: String {
        let devices = devices.map { "\"strap-\($0)\"" }.joined(separator: ", ")
        return """
            "\(id)": {"devices": [\(devices)], "durability": "\(durability)", "steady": \(isSteady), "oneshot": \(isOneshot),
              "budget": \(isSteady ? 10 : 1), "warn": \(isSteady ? 2 : 0.2), "grace": \(isSteady ? 2 : 0.3)}
            """
    }
}

/// Nine events of ten come from the first of four straps; each beat's bytes stand once only.
struct BulkTrace {
    private(set) var text: [UInt8] = []
    private(set) var count = 0

    init(rate: Int, seconds: Double, seed: UInt64) {
        var dice = Dice(seed)
        var isUp = [Bool](repeating: false, count: 5)
        append("wakebridge-trace 1\nclock 2026-11-21T07:42:46.727125Z\n")
        for device in 1...4 {
            append("device \(device) bluetooth C0:F1:F2:F3:F4:0\(device) alias=\"strap-\(device)\" service=180d\n")
        }
        for _ in 0..<Int(seconds * 200) {
            for place in 0..<rate / 200 { beat(place == 0 ? "+0.005 " : "+0.0 ", &isUp, &dice) }
        }
        append("end\n")
    }

    private mutating func append(_ words: String) { text.append(contentsOf: words.utf8) }

    private mutating func beat(_ wait: String, _ isUp: inout [Bool], _ dice: inout Dice) {
        let lot = dice.below(100)
        let device = lot < 90 ? 1 : lot < 97 ? 2 : lot < 99 ? 3 : 4
        let turns = dice.isOne(in: device == 1 ? 20_000 : 300)
        append("\(wait)\(device) ")
        defer { count += 1 }
        guard isUp[device] else {
            isUp[device] = true
            return append("connect\n")
        }
        if turns {
            isUp[device] = false
            return append("disconnect reason=timeout\n")
        }
        let bytes = [0x10, 60 + count % 40, count & 0xff, count >> 8 & 0xff, count >> 16 & 0xff, 1]
        append("data 2a37 \(bytes.map { UInt8($0) }.hexadecimal)\n")
    }
}
