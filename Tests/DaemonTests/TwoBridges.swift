// A daemon with a strap, another one with a handler, and a broker between them.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

final class TwoBridges {
    let broker: RunningBroker
    /// Has the strap.
    let kitchen: RunningDaemon
    /// Has the handler.
    let office: RunningDaemon

    init() throws {
        broker = try RunningBroker()
        kitchen = try RunningDaemon()
        office = try RunningDaemon()
        try kitchen.write(
            #"{ mqtt: { broker: "\#(broker.address)", bridge: "kitchen", discovery: false } }"#,
            to: "config/wakebridge.json5")
        try office.write(
            #"{ remote: [{ broker: "\#(broker.address)", bridge: "kitchen" }] }"#, to: "config/wakebridge.json5")
        try office.write(Script.diary, to: "diary.py")
        try office.drop(
            "hr",
            """
            { exec: ["/usr/bin/env", "python3", "-u", "\(office.folder)/diary.py"], user: "\(me)", modes: ["remote"],
              watch: [{ profile: "heart-rate-monitor", device: "kitchen/strap" }] }
            """)
    }

    /// Plays so many beats at the kitchen, each with its number for a rate.
    func play(_ count: Int, every period: Double) throws {
        let beats = (1...count).map { number in
            let bytes = [UInt8(1), UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
            return "+\(period) 1 data 2a37 \(bytes.hexadecimal)\n"
        }
        try kitchen.write(strapTrace(beats.joined()), to: "strap.trace")
        try kitchen.start("--replay", kitchen.folder + "/strap.trace")
    }

    struct Entry {
        var kind: String
        var isFirst: Bool
        var rate: Int?
        var text: String
    }

    var diary: [Entry] {
        office.diary("hr").map { line in
            let words = line.split(separator: " ", maxSplits: 4).map(String.init)
            let rate = line.firstRange(of: "\"bpm\": ").flatMap {
                Int(line[$0.upperBound...].prefix { $0.isNumber })
            }
            return Entry(kind: words[0], isFirst: words[2] == "1" && words[3] == "False", rate: rate, text: line)
        }
    }

    var rates: [Int] { diary.compactMap(\.rate) }
    var kinds: [String] { diary.map(\.kind).filter { !["restored", "resumed"].contains($0) } }

    /// What the two said of each other.
    var talk: String {
        (lines(of: office.logFile) + lines(of: kitchen.logFile)).filter {
            $0.contains(" remote: ") || $0.contains(" mqtt: ")
        }.joined(separator: "\n")
    }

    /// Each rate came once, or again and marked, in order, and none is missing.
    func expectAccounts(of count: Int) {
        var last = 0
        var again: [String] = []
        for entry in diary {
            guard let rate = entry.rate else { continue }
            if rate == last + 1 { last = rate } else if entry.isFirst { again.append(entry.text) }
        }
        #expect(last == count && again.isEmpty, "\(last) \(again.prefix(3)) \(talk)")
        #expect(!kinds.contains("gap"), "\(diary.filter { $0.kind == "gap" }.map(\.text))")
    }

    /// The broker goes for so many seconds amid the beats, and the follower is killed before and after.
    func outages(beats: Int, every period: Double, away: UInt32) throws {
        try office.start()
        #expect(office.wait(60) { talk.contains("follows bridge kitchen") }, "\(talk)")
        try play(beats, every: period)
        #expect(office.wait(60) { rates.count >= beats / 20 }, "\(talk)")
        try office.stop(SIGKILL)
        try office.start()
        // Its new life may have heard so much from the journal alone; the broker's end is told of a link only.
        let isFollowing = office.wait(60) {
            rates.count >= beats / 10 && talk.split(separator: "follows bridge kitchen").count > 2
        }
        #expect(isFollowing && office.wait(60) { kinds.last == "data" }, "\(kinds.suffix(3)) \(talk)")
        try broker.stop()
        #expect(office.wait(60) { kinds.last == "disconnected" }, "\(kinds.suffix(3)) \(talk)")
        sleep(away)
        try broker.start()
        // The connections come back by themselves, at the latest after a minute. A slow machine may have had all beats by then.
        #expect(office.wait(70) { kinds.last != "disconnected" }, "\(kinds.suffix(3)) \(talk)")
        try office.stop(SIGKILL)
        try office.start()
        #expect(office.wait(120) { rates.last == beats }, "\(rates.suffix(3)) \(talk)")
        expectAccounts(of: beats)
        let absences = diary.filter { $0.kind == "disconnected" }
        // A broker that ends may still pass on the kitchen's last will.
        let reasons = ["broker-away", "bridge-offline"]
        let isNamed = absences.contains { absence in reasons.contains { absence.text.contains($0) } }
        let isTold = isNamed && kinds.count { $0 == "connected" } >= 2
        #expect(isTold, "\(absences.map(\.text)) \(talk)")
        try kitchen.stop()
        #expect(try office.stop() == 0)
    }
}
