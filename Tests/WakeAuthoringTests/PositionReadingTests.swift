// Sentences of receivers against gpsd: its readings beside two captures, and its own decoder where it is installed.
import DeviceLibrary
import TestBench
import Testing
import WakeModel
import WakeProfiles
import WakeSystem

/// What a sentence says, by the profile that tells its parts.
private struct Sentences {
    private let decoder: ProfileDecoder

    init() throws {
        let library = ShippedLibrary.library
        decoder = library.decoder(try #require(library.index(named: "nmea-instrument")))
    }

    /// Nil where the profile has no layout for it, or it does not check.
    func value(of sentence: String) -> JSONValue? {
        var writer = JSONWriter()
        guard (try? decoder.decode(Array(sentence.utf8), from: .serial, into: &writer)) == true else { return nil }
        return try? JSONValue(parsing: writer.bytes)
    }
}

/// Ours beside gpsd's, with how far the two may be apart: half of the last digit that gpsd writes or takes.
private struct Pairing {
    var ours: String
    var theirs: String
    var factor = 1.0
    var tolerance: Double

    static let position = [
        Pairing(ours: "latitude_deg", theirs: "lat", tolerance: 1e-7),
        Pairing(ours: "longitude_deg", theirs: "lon", tolerance: 1e-7),
    ]
    static let fix =
        position + [
            Pairing(ours: "altitude_m", theirs: "altMSL", tolerance: 1e-4),
            Pairing(ours: "geoid_separation_m", theirs: "geoidSep", tolerance: 1e-3),
            Pairing(ours: "course_deg", theirs: "track", tolerance: 1e-4),
            Pairing(ours: "speed_kn", theirs: "speed", factor: 1852.0 / 3600, tolerance: 6e-4),
        ]
    static let sky = [
        Pairing(ours: "hdop_ratio", theirs: "hdop", tolerance: 1e-6),
        Pairing(ours: "pdop_ratio", theirs: "pdop", tolerance: 1e-6),
        Pairing(ours: "vdop_ratio", theirs: "vdop", tolerance: 1e-6),
    ]

    /// How many were compared; differences are recorded.
    static func compare(_ pairings: [Pairing], _ ours: JSONValue, _ theirs: JSONValue, _ about: String) -> Int {
        pairings.count { pairing in
            guard let one = ours[pairing.ours]?.number, let two = theirs[pairing.theirs]?.number else { return false }
            #expect(
                abs(one * pairing.factor - two) <= pairing.tolerance,
                "\(about): \(pairing.ours) is \(one), gpsd's \(pairing.theirs) \(two)")
            return true
        }
    }
}

@Suite("Sentences of receivers against gpsd")
struct PositionReadingTests {
    @Test(
        "of two captures every sentence says what gpsd reads in it",
        .enabled(unless: DeviceCaptures.hindrance), arguments: ["bu353s4", "holux-gm-210"])
    func captures(_ name: String) throws {
        let sentences = try Sentences()
        var (value, counts): (JSONValue?, [String: Int]) = (nil, [:])
        let said = String(decoding: DeviceCaptures.bytes("serial/\(name).expected"), as: UTF8.self)
        for line in said.split(whereSeparator: \.isNewline).map(String.init) {
            guard line.hasPrefix("{") else {
                value = sentences.value(of: line)
                if value != nil { counts["sentences", default: 0] += 1 }
                continue
            }
            let theirs = try JSONValue(parsing: Array(line.utf8))
            guard let ours = value, let kind = theirs["class"]?.string else { continue }
            let pairings = kind == "TPV" ? Pairing.fix : Pairing.sky
            counts["values of \(kind)", default: 0] += Pairing.compare(pairings, ours, theirs, "\(name): \(line)")
        }
        print("gpsd's reading of \(name): \(counts.sorted { $0.key < $1.key })")
        // One of them never has a position.
        #expect((counts["sentences"] ?? 0) > 20 && (counts["values of SKY"] ?? 0) > 20)
    }

    private static let decoder: String? = {
        let place = environment("WAKEBRIDGE_GPSDECODE") ?? "/usr/bin/gpsdecode"
        let isThere = names(in: String(place.prefix(upTo: place.lastIndex(of: "/") ?? place.startIndex)))
            .contains(String(place.split(separator: "/").last ?? ""))
        return isThere ? place : nil
    }()
    private static var hindrance: String? {
        decoder == nil ? "gpsdecode is not installed (Debian: gpsd-clients)" : nil
    }

    @Test(
        "the positions of every receiver of the library are those that gpsd makes of its published sentences",
        .enabled(unless: hindrance))
    func published() throws {
        let sentences = try Sentences()
        var compared = 0
        for name in ShippedLibrary.devices {
            let said = try Self.sentences(of: name)
            guard said.contains(where: { $0.hasPrefix("$GPRMC") || $0.hasPrefix("$GNRMC") }) else { continue }
            let fixes = try Self.fixes(of: said).filter { $0["lat"] != nil }
            let count = Self.compare(said.compactMap { sentences.value(of: $0) }, with: fixes, name)
            print("gpsd's reading of \(name): \(fixes.count) positions, \(count) values")
            compared += count
        }
        #expect(compared > 50)
    }

    /// A fix of gpsd's has the time of the sentences of one second.
    private static func compare(_ ours: [JSONValue], with fixes: [JSONValue], _ name: String) -> Int {
        fixes.reduce(0) { count, fix in
            let clock = String((fix["time"]?.string ?? "").split(separator: "T").last?.prefix(8) ?? "")
            let same = ours.filter { $0["time"]?.string?.hasPrefix(clock) == true && !clock.isEmpty }
            #expect(!same.isEmpty, "\(name): no sentence of \(clock)")
            return count + same.reduce(0) { $0 + Pairing.compare(Pairing.fix, $1, fix, "\(name) at \(clock)") }
        }
    }

    private static func fixes(of sentences: [String]) throws -> [JSONValue] {
        let folder = makeDirectory("/tmp/wakebridge-gpsd.XXXXXX")
        defer { Directory.removeTree(folder) }
        put(Array((sentences.joined(separator: "\r\n") + "\r\n").utf8), at: "\(folder)/nmea")
        let child = try Child(["/bin/sh", "-c", "'\(decoder ?? "")' -j <'\(folder)/nmea'"]).finish(within: 60)
        #expect(child.exit == 0, "\(child.talk)")
        return child.output.split(whereSeparator: \.isNewline).compactMap { try? JSONValue(parsing: Array($0.utf8)) }
            .filter { $0["class"]?.string == "TPV" }
    }

    /// Lines that begin with `$`: the recorded ones where there is a recording, and the published ones otherwise.
    private static func sentences(of name: String) throws -> [String] {
        let recorded = bytes(of: "\(ShippedLibrary.folder)/\(name)/recording.trace")
        let trace = recorded.isEmpty ? try PublishedTrace(of: name).text : recorded
        let data = String(decoding: trace, as: UTF8.self).split(separator: "\n").flatMap { line -> [UInt8] in
            let words = line.split(separator: " ")
            guard words.count > 4, words[2] == "data", words[3] == "serial" else { return [] }
            return ([UInt8](hexadecimal: words[4...].joined()) ?? []) + [0x0a]
        }
        return String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
            .filter { $0.hasPrefix("$") }
    }
}
