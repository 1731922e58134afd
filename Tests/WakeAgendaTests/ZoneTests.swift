// Time zones read as data: offsets, missing and doubled hours, skipped days, and bytes that are no zone.
import TestBench
import Testing
import WakeModel
import WakeSystem

@testable import WakeAgenda

private func instant(_ text: String) -> WallTime { WallTime(rfc3339: text) ?? WallTime(microseconds: -1) }

private func civil(_ text: String) -> CivilTime { CivilTime(seconds: instant(text + "Z").wholeSeconds) }

private let folder = AlarmMachine.zoneFolder
private let hasZones = File.exists("\(folder)/Europe/Berlin")
private let needsZones: Comment = "needs the zones of tzdata"

@Suite("Time zones")
struct ZoneTests {
    private func zone(_ name: String) throws -> Zone { try Zone(tzif: bytes(of: "\(folder)/\(name)")) }

    @Test(
        "a civil time is the instant that its zone's clock shows it at: a missing one the end of its gap, a doubled one the first of both",
        .enabled(if: hasZones, needsZones),
        arguments: [
            ("Europe/Berlin", "2026-11-22T07:00:00", "2026-11-22T06:00:00Z"),
            ("Europe/Berlin", "2026-03-29T01:59:59", "2026-03-29T00:59:59Z"),
            ("Europe/Berlin", "2026-03-29T02:30:00", "2026-03-29T01:00:00Z"),
            ("Europe/Berlin", "2026-03-29T03:00:00", "2026-03-29T01:00:00Z"),
            ("Europe/Berlin", "2026-10-25T02:30:00", "2026-10-25T00:30:00Z"),
            ("Europe/Berlin", "2026-10-25T03:00:00", "2026-10-25T02:00:00Z"),
            ("Europe/Berlin", "2126-03-31T02:30:00", "2126-03-31T01:00:00Z"),
            ("Europe/Berlin", "2126-07-01T12:00:00", "2126-07-01T10:00:00Z"),
            ("Australia/Lord_Howe", "2026-10-04T02:15:00", "2026-10-03T15:30:00Z"),
            ("Australia/Lord_Howe", "2026-04-05T01:45:00", "2026-04-04T14:45:00Z"),
            ("Pacific/Apia", "2011-12-30T12:00:00", "2011-12-30T10:00:00Z"),
            ("Pacific/Apia", "2011-12-29T23:59:00", "2011-12-30T09:59:00Z"),
            ("Pacific/Apia", "2011-12-31T00:00:00", "2011-12-30T10:00:00Z"),
            ("Asia/Kolkata", "2026-01-01T00:00:00", "2025-12-31T18:30:00Z"),
            ("Etc/GMT+5", "2026-01-01T00:00:00", "2026-01-01T05:00:00Z"),
            ("UTC", "1700-01-01T00:00:00", "1700-01-01T00:00:00Z"),
        ])
    func resolves(name: String, shown: String, meant: String) throws {
        #expect(try zone(name).instant(of: civil(shown)) == instant(meant))
    }

    @Test("what a zone's clock shows is what resolves to the instant, but for hours that are repeated")
    func showsTime() throws {
        #expect(Zone.utc.civilTime(at: instant("2026-11-22T07:00:00Z")) == civil("2026-11-22T07:00:00"))
        guard hasZones else { return }
        let berlin = try zone("Europe/Berlin")
        #expect(berlin.civilTime(at: instant("2026-07-01T10:00:00Z")) == civil("2026-07-01T12:00:00"))
        #expect(berlin.offset(at: instant("2026-12-01T10:00:00Z")) == .seconds(3_600))
        #expect(
            berlin.instant(of: berlin.civilTime(at: instant("2026-10-25T01:30:00Z"))) == instant("2026-10-25T00:30:00Z")
        )
    }

    @Test(
        "the oracle sees the same offsets in every zone of the machine, and resolves the same times",
        .enabled(unless: Oracle.hindrance))
    func agreesWithOracle() throws {
        let names = lines(of: "\(folder)/tzdata.zi").filter { $0.hasPrefix("Z ") || $0.hasPrefix("L ") }
            .map { String($0.split(separator: " ")[$0.hasPrefix("Z ") ? 1 : 2]) }.filter {
                File.exists("\(folder)/\($0)")
            }
        try #require(names.count > 300)
        let zones = Dictionary(uniqueKeysWithValues: try names.map { ($0, try zone($0)) })
        var dice = Dice(20)
        var (asked, civils): ([(String, Int64)], [(String, Int64)]) = ([], [])
        for name in names {
            for _ in 0..<12 { asked.append((name, Int64(dice.below(7_000_000_000)) - 2_500_000_000)) }
            for _ in 0..<3 { civils.append((name, Int64(dice.below(3_000_000_000)))) }
            // Around changes it matters.
            var shift = zones[name]?.shift(after: Int64(dice.below(2_000_000_000)))
            for _ in 0..<4 {
                guard let found = shift else { break }
                asked += [(name, found.at - 1), (name, found.at)]
                civils += [-5_000, -1, 0, 1, 5_000].map { (name, found.at + found.before + $0) }
                shift = zones[name]?.shift(after: found.at)
            }
        }
        let answers = try Oracle.ask([
            question("offsets", asked.map { ($0, "\($1)") }),
            question(
                "instants",
                civils.map { ($0, "\"\(WallTime(seconds: $1).rfc3339.prefix(19).replacing("T", with: " "))\"") }),
        ])
        try #require(answers.count == 2 && answers[0].count == asked.count && answers[1].count == civils.count)
        for (question, answer) in zip(asked, answers[0]) {
            #expect(zones[question.0]?.offset(at: question.1) == answer, "\(question)")
        }
        for (question, answer) in zip(civils, answers[1]) {
            #expect(zones[question.0]?.instant(reaching: question.1) == answer, "\(question)")
        }
    }

    @Test(
        "a file of version 1 ends with its table, and one without changes has one offset for ever",
        .enabled(if: hasZones, needsZones))
    func oldFiles() throws {
        let whole = bytes(of: "\(folder)/Europe/Berlin")
        var old = whole
        old[4] = 0
        let zone = try Zone(tzif: old)
        #expect(zone.offset(at: instant("2026-07-01T10:00:00Z")) == .seconds(7_200))
        #expect(zone.offset(at: instant("2126-07-01T10:00:00Z")) == .seconds(3_600), "no rule follows the table")
        #expect(try self.zone("Etc/GMT-14").offset(at: instant("2126-07-01T10:00:00Z")) == .seconds(14 * 3_600))
    }

    @Test("a rule with days of the year and times beyond midnight is understood, and one that cannot be is named")
    func rules() throws {
        let alwaysSummer = try Zone(tzif: file(rule: "XXX3EDT4,0/0,J365/23"))
        #expect(alwaysSummer.offset(at: 1_800_000_000) == -4 * 3_600)
        #expect(alwaysSummer.shift(after: 1_800_000_000) == nil)
        let greenland = try Zone(tzif: file(rule: "<-02>2<-01>,M3.5.0/-1,M10.5.0/0"))
        #expect(
            greenland.instant(reaching: civil("2026-03-28T23:30:00").seconds)
                == instant("2026-03-29T01:00:00Z").wholeSeconds)
        let leapless = try Zone(tzif: file(rule: "AAA0BBB,J60,J300"))
        #expect(
            leapless.shift(after: instant("2028-01-01T00:00:00Z").wholeSeconds)?.at
                == instant("2028-03-01T02:00:00Z").wholeSeconds)
        for rule in [
            "C0", "CET", "CET-25", "CET-1CEST", "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.5.0",
            "CET-1CEST,M3.5.0,M10.5.0x", "<CET-1", "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,J0,J5",
            "CET-1CEST,M3.5.0/168,M10.5.0",
        ] {
            #expect(throws: ZoneFault.unreadableRule, "\(rule)") { try Zone(tzif: file(rule: rule)) }
        }
    }

    /// A file of version 2 with no change, one offset and this last line.
    private func file(rule: String, offset: [UInt8] = [0, 0, 0, 0]) -> [UInt8] {
        let header: [UInt8] = Array("TZif2".utf8) + Array(repeating: 0, count: 15)
        let counts: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 4]
        let block = header + counts + offset + [0, 0] + Array("AAA\0".utf8)
        return block + block + Array("\n\(rule)\n".utf8)
    }

    @Test("what is wrong with a file is named")
    func namesFaults() throws {
        let good = file(rule: "")
        #expect(try Zone(tzif: good) == .utc)
        func fault(_ change: (inout [UInt8]) -> Void) -> ZoneFault? {
            var bytes = good
            change(&bytes)
            do throws(ZoneFault) {
                _ = try Zone(tzif: bytes)
                return nil
            } catch { return error }
        }
        #expect(fault { $0 = [] } == .truncated)
        #expect(fault { $0[0] = 0 } == .notTZif)
        #expect(fault { $0.removeLast() } == .truncated)
        #expect(fault { $0[32] = 0xff } == .truncated, "a table of four thousand millions")
        #expect(
            fault {
                $0[54 + 39] = 0
                $0.removeSubrange(98..<104)
            } == .noTypes)
        #expect(fault { $0.replaceSubrange(98..<102, with: [0x7f, 0, 0, 0]) } == .offsetOutOfRange)
        #expect(
            fault {
                $0[54 + 31] = 1
                $0.insert(contentsOf: Array(repeating: 0, count: 12), at: 108)
            } == .leapSeconds)
        for fault in ZoneFault.allCases { #expect(!fault.reason.isEmpty) }
    }

    @Test(
        "bytes that are cut, flipped or huge give a named error or a zone, and never end the process",
        .enabled(if: hasZones, needsZones))
    func survivesAnything() throws {
        var dice = Dice(8)
        var read = 0
        for name in ["Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia", "Etc/UTC"] {
            let whole = bytes(of: "\(folder)/\(name)")
            for length in 0..<whole.count { check(Array(whole[..<length]), &read) }
            for _ in 0..<3_000 {
                var changed = whole
                for _ in 0..<(1 + dice.below(4)) { changed[dice.below(changed.count)] = UInt8(dice.below(256)) }
                if dice.isOne(in: 3) { changed[20 + dice.below(24)] = 0xff }
                check(changed, &read)
            }
        }
        #expect(read > 100, "some changes leave a zone")
    }

    /// Uses what was read as alarms use it.
    private func check(_ bytes: [UInt8], _ read: inout Int) {
        guard let zone = try? Zone(tzif: bytes), let times = DailyTimes(times: [9_000, 27_000]) else { return }
        read += 1
        var time = instant("2011-12-28T00:00:00Z")
        for _ in 0..<6 {
            let next = times.next(after: time, in: zone)
            #expect(next > time)
            #expect(times.passed(after: time, upTo: next, in: zone) == Passage(last: next, count: 1))
            time = next
        }
    }

    private func question(_ word: String, _ pairs: [(String, String)]) -> [UInt8] {
        let list = pairs.map { "[\"\($0)\",\($1)]" }.joined(separator: ",")
        return Array("{\"\(word)\":[\(list)]}\n".utf8)
    }
}
