// AIS against gpsd's samples, each type of message once, and against all of them where a checkout of gpsd is there.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@testable import WakeProfiles

@Suite("The decoder ais")
struct AISTests {
    @Test("the sentences of gpsd's samples decode, a message of every type")
    func samples() throws {
        for sample in AISSamples.all {
            var listener = try Listener(.ais)
            var last: String?
            for sentence in sample.sentences { last = listener.hear(Array(sentence.utf8), .line) }
            #expect(last == sample.value, "\(sample.sentences)")
        }
        let types = Set(
            AISSamples.all.compactMap { $0.value.split(separator: ",").first?.split(separator: ":").last }.map(
                String.init))
        #expect(types.count == 27, "\(types.sorted())")
    }

    /// A sentence of gpsd's test/daemon/ais-nmea-type6-fid55.log.
    @Test("numbers that stand for none are null: course, heading and turn of a ship that does not say them")
    func none() throws {
        var listener = try Listener(.ais)
        let text = listener.hear(Array("!AIVDM,1,1,,A,139qWm0P00PPEm6M3Gj>4?vLR>`<,0*44".utf8), .line)
        #expect(text?.contains(#""turn_deg_min":null,"speed_kn":0,"#) == true)
        #expect(text?.contains(#""course_deg":null,"heading_deg":null,"second":14,"#) == true)
    }

    private static let parts = [
        "!AIVDM,2,1,9,B,55R3Vn82=ILTQ3KKS>1<D60Dq@E918U<F222221J1`?164vc03S1CCAD,0*2A",
        "!AIVDM,2,2,9,B,`88888888888880,2*76",
    ]
    private static let others = [
        "!AIVDM,2,1,9,A,53aDpaT000010;CKKB0h4Q8TpLDr222222222216<P:656rd07Tai0CKk5hD,0*79",
        "!AIVDM,2,2,9,A,Q1C`8888880,2*6E",
    ]

    private func name(_ text: String?) -> String? {
        text?.split(separator: #""name":""#).last?.split(separator: "\"").first.map(String.init)
    }

    @Test("parts of two messages in between each other are told apart by channel and sequence id")
    func interleaved() throws {
        var listener = try Listener(.ais)
        #expect(listener.hear(Array(Self.parts[0].utf8), .line) == nil)
        #expect(listener.hear(Array(Self.others[0].utf8), .line) == nil)
        #expect(name(listener.hear(Array(Self.parts[1].utf8), .line)) == "SEA ENTERPRISE")
        #expect(name(listener.hear(Array(Self.others[1].utf8), .line)) == "LAHRINGEN")
    }

    @Test("a part without those before it, or half a minute after them, makes no message")
    func missing() throws {
        let lack = "part 2 of 2: the part before it was not heard"
        var listener = try Listener(.ais)
        #expect(listener.hear(Array(Self.parts[1].utf8), .line) == lack)
        #expect(listener.hear(Array(Self.parts[0].utf8), .line) == nil)
        #expect(listener.hear(Array(Self.parts[1].utf8), .line, at: Instant(nanoseconds: 30_000_000_001)) == lack)
    }

    @Test("a first part that comes again starts its message again, and a part is used once")
    func again() throws {
        var listener = try Listener(.ais)
        #expect(listener.hear(Array(Self.parts[0].utf8), .line) == nil)
        #expect(listener.hear(Array(Self.parts[0].utf8), .line) == nil)
        #expect(name(listener.hear(Array(Self.parts[1].utf8), .line)) == "SEA ENTERPRISE")
        #expect(listener.hear(Array(Self.parts[1].utf8), .line) == "part 2 of 2: the part before it was not heard")
    }

    @Test("a tag block before a sentence and line ends after it are no part of it")
    func wrapped() throws {
        var listener = try Listener(.ais)
        let sentence = "\\g:1-1-1234,s:r,c:1120969607*3b\\!AIVDM,1,1,,A,15RTgt0PAso;90TKcjM8h6g208CQ,0*4A\r\n"
        #expect(listener.hear(Array(sentence.utf8), .line)?.contains(#""mmsi":371798000"#) == true)
    }

    @Test(
        "what is no sentence, has a wrong check or a wrong length, makes no value",
        arguments: [
            ("$GPGGA,1*00", "not AIS: the sentence is not !…*hh, a text and two hexadecimal digits"),
            (
                "!AIVDM,1,1,,A,15RTgt0PAso;90TKcjM8h6g208CQ,0*4B",
                "a wrong check: the sentence says 4b, its text makes 4a"
            ),
            ("!AIVDM,1,2,,A,15RTgt0PAso;90TKcjM8h6g208CQ,0*49", "not AIS: the counts of the sentence are none"),
            ("!AIXXX,1,1,,A,0,0*3D", "not AIS: the sentence is no !..VDM or !..VDO with seven fields"),
            (
                "!AIVDM,1,1,,A,15RTgt0PAso;90TKcjM8h6g208C,0*1B",
                "a wrong length: AIS messages of type 1 have 168 to 168 bits, this has 162"
            ),
            ("!AIVDM,1,1,,A,L5RTgt0,0*10", "unknown AIS message type 28"),
            ("!AIVDM,1,1,,A,1X,0*7F", "not AIS: 58 is no character of a payload"),
        ] as [(String, String)])
    func unfit(sentence: String, expected: String) throws {
        var listener = try Listener(.ais)
        let text = listener.hear(Array(Self.checked(sentence).utf8), .line)
        #expect(text == expected)
    }

    /// With the check that its text makes, but where the check is what is wrong.
    private static func checked(_ sentence: String) -> String {
        guard sentence.hasPrefix("!"), !sentence.hasSuffix("*4B") else { return sentence }
        let body = sentence.dropFirst().prefix { $0 != "*" }
        return "!\(body)*\(body.utf8.reduce(0, ^).hexadecimal)"
    }

    @Test(
        "ten thousand random and spoilt sentences make a value or a sentence, and none a value whose check was right only once"
    )
    func hardy() throws {
        let seeds = AISSamples.all.flatMap(\.sentences).map { Array($0.utf8).hexadecimal }
        try expectHardy(.ais, [.line], seeds: seeds)
        // With checks that fit, so that what is behind them is reached.
        var (dice, listener) = (Dice(27), try Listener(.ais))
        let alphabet = Array("0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVW`abcdefghijklmnopqrstuvw")
        for _ in 0..<10_000 {
            let payload = String((0..<dice.below(72)).map { _ in alphabet[dice.below(alphabet.count)] })
            let total = 1 + dice.below(3)
            let sentence = "!AIVDM,\(total),\(1 + dice.below(total)),\(dice.below(10)),A,\(payload),\(dice.below(6))*00"
            let text = listener.hear(Array(Self.checked(sentence).utf8), .line)
            #expect(text?.hasPrefix("{") != true || (try? JSONValue(parsing: Array((text ?? "").utf8))) != nil)
        }
    }
}

/// All of gpsd's samples with the readings beside them.
enum GpsdSamples {
    static let folder = environment("WAKEBRIDGE_GPSD") ?? "\(packageFolder)/../shared/gpsd/test"
    static var hindrance: String? {
        guard !names(in: folder).contains("sample.aivdm") else { return nil }
        return "no tests of gpsd at \(folder); WAKEBRIDGE_GPSD says where they are"
    }
}

/// gpsd's own decoder of lines.
enum Gpsdecode {
    static let place = environment("WAKEBRIDGE_GPSDECODE") ?? "/usr/bin/gpsdecode"
    static var hindrance: String? {
        access(place, X_OK) == 0 ? nil : "gpsdecode (Debian: gpsd-clients) is not at \(place)"
    }

    static func messages(of sentences: [String]) throws -> [JSONValue] {
        let folder = makeDirectory("/tmp/wakebridge-gpsd.XXXXXX")
        defer { Directory.removeTree(folder) }
        put(sentences.joined(separator: "\r\n") + "\r\n", at: "\(folder)/ais")
        let child = try Child(["/bin/sh", "-c", "'\(place)' -j <'\(folder)/ais'"]).finish(within: 60)
        #expect(child.exit == 0, "\(child.talk)")
        return child.output.split(whereSeparator: \.isNewline).compactMap { try? JSONValue(parsing: Array($0.utf8)) }
    }
}

@Suite("ais against gpsd")
struct GpsdTests {
    /// Ours by gpsd's name; the others of gpsd's are words, scales, or a part of another field.
    private static let names: [String: String] = [
        "type": "type", "repeat": "repeat", "mmsi": "mmsi", "speed": "speed_kn", "accuracy": "accurate",
        "lon": "longitude_deg",
        "lat": "latitude_deg", "course": "course_deg", "heading": "heading_deg", "second": "second", "raim": "raim",
        "radio": "radio", "imo": "imo", "ais_version": "ais_version", "callsign": "callsign", "shipname": "name",
        "shiptype": "ship_type", "to_bow": "to_bow_m", "to_stern": "to_stern_m", "to_port": "to_port_m",
        "to_starboard": "to_starboard_m", "eta": "eta", "draught": "draught_m", "destination": "destination",
        "dest_mmsi": "destination_mmsi", "retransmit": "retransmitted", "dac": "area_code", "fid": "function_id",
        "alt": "altitude_m", "text": "text", "seqno": "sequence", "timestamp": "time", "aid_type": "aid_type",
        "off_position": "off_position", "virtual_aid": "virtual", "cs": "carrier_sense", "display": "display",
        "dsc": "dsc",
        "band": "whole_band", "msg22": "channel_control", "channel_a": "channel_a", "channel_b": "channel_b",
        "txrx": "transmit_receive", "addressed": "addressed", "stationtype": "station_type", "interval": "interval",
        "quiet": "quiet_min", "app_id": "application_id", "serial": "serial", "model": "unit_model",
    ]
    /// gpsd gives a number where there is no value, and we give null.
    private static let nothing: [String: Set<String>] = [
        "heading": ["511"], "speed": ["1023", "102.3", "63", "fast", "nan", "n/a"],
        "course": ["3600", "360", "360.0", "511"],
        "second": ["60"], "imo": ["0"], "lon": ["181", "108600000"], "lat": ["91", "54600000"], "alt": ["4095"],
    ]

    @Test(
        "the samples of every type of message read as gpsdecode reads them",
        .enabled(unless: Gpsdecode.hindrance))
    func decoded() throws {
        let sentences = AISSamples.all.flatMap(\.sentences)
        try compare(sentences, with: Gpsdecode.messages(of: sentences), atLeast: 20, of: "gpsdecode")
    }

    @Test(
        "every message of gpsd's samples reads as gpsd reads it", .enabled(unless: GpsdSamples.hindrance)
    )
    func samples() throws {
        let sentences = Self.lines("sample.aivdm").filter { $0.hasPrefix("!") }
        let theirs = Self.lines("sample.aivdm.js.chk").compactMap {
            try? JSONValue(parsing: Array($0.utf8))
        }
        try compare(sentences, with: theirs, atLeast: 90, of: "sample.aivdm")
    }

    /// They end with CR and LF.
    private static func lines(_ name: String) -> [String] {
        text(of: "\(GpsdSamples.folder)/\(name)").split(whereSeparator: \.isNewline).map(String.init)
    }

    private func compare(_ sentences: [String], with theirs: [JSONValue], atLeast least: Int, of name: String) throws {
        var listener = try Listener(.ais)
        var ours: [JSONValue] = []
        var refused: [String: Int] = [:]
        for sentence in sentences {
            guard let text = listener.hear(Array(sentence.utf8), .line) else { continue }
            if text.hasPrefix("{") {
                ours.append(try JSONValue(parsing: Array(text.utf8)))
            } else {
                refused[text, default: 0] += 1
            }
        }
        var (compared, fields, unread) = (0, 0, 0)
        for their in theirs {
            guard let our = ours.first(where: { Self.isSame($0, their) }) else {
                unread += 1
                continue
            }
            fields += compare(our, their)
            compared += 1
        }
        print("ais: \(compared) messages of gpsd's \(name), \(fields) fields; refused: \(refused)")
        // Of those, gpsd takes some whose check or length we refuse.
        #expect(compared >= least && unread <= 7, "\(unread) not read")
    }

    private static func isSame(_ our: JSONValue, _ their: JSONValue) -> Bool {
        our["type"] == their["type"] && our["function_id"] ?? .null == their["fid"] ?? .null && isSameRadio(our, their)
            && our["mmsi"] == their["mmsi"] && our["repeat"] == their["repeat"]
            && (their["data"] == nil || data(of: their) == our["data"]?.string) && near(our, their, "lon")
            && near(our, their, "lat")
            && (their["text"] == nil || their["text"] == our["text"])
            && (their["seqno"] == nil || their["seqno"] == our["sequence"])
            && (their["offset1"] == nil || number("offset", our) == their["offset1"]?.integer)
    }

    /// Of type 26 gpsd looks for it elsewhere.
    private static func isSameRadio(_ our: JSONValue, _ their: JSONValue) -> Bool {
        their["radio"] == nil || our["type"]?.integer == 26 || our["radio"] == their["radio"]
    }

    /// The first of a list.
    private static func number(_ name: String, _ our: JSONValue) -> Int64? {
        our[name]?.integer ?? our[name]?.array?.first?.integer
    }

    private static func near(_ our: JSONValue, _ their: JSONValue, _ name: String) -> Bool {
        guard let one = our[names[name] ?? name]?.number, let two = their[name]?.number else { return true }
        return abs(one - two) < (our["type"]?.integer == 17 ? 0.06 : 0.0001) || abs(two) > 90
    }

    private static func data(of their: JSONValue) -> String? {
        their["data"]?.string?.split(separator: ":").last.map(String.init)
    }

    /// What stands for no value, a place beyond the globe, and a time that no clock shows.
    private static func isNothing(_ value: JSONValue, of name: String) -> Bool {
        let text = value.string ?? value.number.map { $0.description } ?? ""
        let isBeyond = abs(value.number ?? 0) > (name == "lat" ? 90 : 180) && (name == "lat" || name == "lon")
        return nothing[name]?.contains { text.hasPrefix($0) } == true || isBeyond || text.contains("-00")
            || text.contains("24:60") || text.hasPrefix("00")
    }

    private func compare(_ our: JSONValue, _ their: JSONValue) -> Int {
        guard case .object(let members) = their else { return 0 }
        var count = 0
        for member in members {
            guard let name = Self.names[member.name], let found = our[name] else { continue }
            // Looked for elsewhere by gpsd; rounded by it to tenths of a degree.
            if our["type"]?.integer == 26, name == "radio" { continue }
            if our["type"]?.integer == 17, name.hasSuffix("_deg") { continue }
            if found == .null {
                #expect(Self.isNothing(member.value, of: member.name), "\(member.name): \(member.value) in \(their)")
            } else if member.name == "eta", let eta = member.value.string, let mine = found.string {
                #expect(eta.hasPrefix(mine.prefix(5)), "\(their)")
            } else {
                #expect(
                    found.isNear(member.value) || abs((found.number ?? 0) - (member.value.number ?? 1)) < 0.000_051,
                    "\(member.name): \(found), in \(their)")
            }
            count += 1
        }
        return count
    }
}
