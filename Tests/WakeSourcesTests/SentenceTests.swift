// Real bytes of real receivers through the framer and the shipped profile; skipped, and said so, where they are absent.
import TestBench
import Testing
import WakeModel
import WakeProfiles

@testable import WakeSources

private let noCheck = "no check: nmea asks for $…*hh, the text and two hexadecimal digits"

@Suite("Sentences of receivers")
struct SentenceTests {
    private func receiver() throws -> (library: ProfileLibrary, index: ProfileIndex) {
        let text = bytes(of: "\(packageFolder)/Devices/gps-receiver/profile.json5")
        let source = ProfileLibrary.Source(name: "gps-receiver", file: "f", text: text)
        let (library, errors) = ProfileLibrary.load([source])
        #expect(errors == [])
        return (library, try #require(library.index(named: "gps-receiver")))
    }

    /// The value as JSON text, or the reason why there is none.
    private func value(of bytes: [UInt8]) throws -> String {
        let (library, index) = try receiver()
        var writer = JSONWriter()
        do {
            let isDecoded = try library.decoder(index).decode(bytes, from: .serial, into: &writer)
            return isDecoded ? String(decoding: writer.bytes, as: UTF8.self) : "nothing"
        } catch { return error.description }
    }

    /// The second was cut in mid-sentence when it was recorded, and a line's end was put there.
    @Test(
        "every whole sentence of a receiver has a value with the position that gpsd finds, and a cut one says that it has no check",
        .enabled(unless: DeviceCaptures.hindrance))
    func sentences() throws {
        for (name, count, cutCount) in [("bu353s4", 90, 0), ("holux-gm-210", 39, 1)] {
            let made = try received(DeviceCaptures.bytes("serial/\(name).nmea"))
            let messages = made.filter(\.isMessage).map { String(decoding: $0.bytes, as: UTF8.self) }
            #expect(made.count == count + cutCount && messages.count == made.count)
            let positions = Self.positions(name)
            #expect(positions.count > 20 || name != "bu353s4")
            for message in messages.prefix(count) {
                let value = try JSONValue(parsing: Array(try value(of: Array(message.utf8)).utf8))
                guard let position = positions[message] else { continue }
                #expect(abs((value["latitude_deg"]?.number ?? 0) - position.latitude) < 1e-6, "\(message)")
                #expect(abs((value["longitude_deg"]?.number ?? 0) - position.longitude) < 1e-6, "\(message)")
            }
            for message in messages.dropFirst(count) { #expect(try value(of: Array(message.utf8)) == noCheck) }
        }
    }

    /// What gpsd made of each sentence with a position: its reading stands behind it.
    private static func positions(_ name: String) -> [String: (latitude: Double, longitude: Double)] {
        var (found, sentence): ([String: (Double, Double)], String) = ([:], "")
        for line in DeviceCaptures.lines("serial/\(name).expected") {
            if line.hasPrefix("$") { sentence = line }
            guard ["RMC", "GGA"].contains(sentence.dropFirst(3).prefix(3)), line.hasPrefix("{"),
                let reading = try? JSONValue(parsing: Array(line.utf8)), let latitude = reading["lat"]?.number,
                let longitude = reading["lon"]?.number
            else { continue }
            found[sentence] = (latitude, longitude)
        }
        return found
    }

    @Test(
        "wherever a receiver is unplugged, what it said by then is told: whole sentences, and the rest as cut short",
        .enabled(unless: DeviceCaptures.hindrance))
    func unplugged() throws {
        let bytes = DeviceCaptures.bytes("serial/bu353s4.nmea")
        for length in stride(from: 1, to: bytes.count, by: 7) {
            let said = bytes.prefix(length)
            let made = try received(Array(said))
            let sentences = said.split(separator: 0x0a).map { Array($0) }
            if said.last == 0x0a {
                #expect(made == sentences.map(Frame.message))
            } else {
                let last = try #require(sentences.last)
                #expect(made == sentences.dropLast().map(Frame.message) + [.fragment(last, .cutShort)])
            }
        }
    }

    /// What the shipped profile's framing makes of `bytes` in calls of random length.
    private func received(_ bytes: [UInt8]) throws -> [Frame] {
        let (library, index) = try receiver()
        let plan = try #require(library[index].accessory)
        var dice = Dice(UInt64(bytes.count))
        return frames(of: bytes, plan.framing, limit: plan.frameLimit) { 1 + dice.below(64) }
    }

    @Test("a stream that begins and ends in mid-sentence, with a byte damaged on its way, gives one event for each")
    func damage() throws {
        let line = "$GPGLL,4916.45,N,12311.12,W,225444,A,*1D\r\n"
        let stream = Array("6.45,N*00\r\n\(line)\(line.replacing("4916", with: "4917"))$GPG".utf8)
        let made = frames(of: stream, .line, limit: 128) { 3 }
        #expect(made.count == 4)
        #expect(made.last == .fragment(Array("$GPG".utf8), .cutShort))
        let values = try made.prefix(3).map { try value(of: $0.bytes) }
        #expect(
            values == [
                noCheck,
                #"{"latitude_deg":49.2741667,"longitude_deg":-123.1853333,"time":"22:54:44","status":"A","mode":null}"#,
                "a wrong check: nmea says 1d, the bytes make 1c",
            ])
    }
}
