// Serial lines as they are in the field, decoded as the daemon does: only what is damaged is lost.
import DeviceLibrary
import TestBench
import Testing
import WakeAuthoring
import WakeModel
import WakeProfiles
import WakeSources

/// A line to a device of the library.
private struct LibraryLine {
    private let decoder: ProfileDecoder
    private var framer: Framer
    private var memory = DeviceMemory()

    init(to name: String) throws {
        let library = ShippedLibrary.library
        let index = try #require(library.index(named: name))
        let plan = try #require(library[index].accessory)
        decoder = library.decoder(index)
        framer = Framer(plan.framing, limit: plan.frameLimit, trial: plan.trial)
    }

    /// The values of what comes, until the line is closed.
    mutating func values(of bytes: [UInt8]) -> [JSONValue] {
        let frames = framer.append(bytes[...], at: .zero, readBy: .zero) + framer.end()
        return frames.compactMap { frame in
            guard case .message(let message) = frame else { return nil }
            return value(of: message)
        }
    }

    private mutating func value(of message: [UInt8]) -> JSONValue? {
        let heard = decoder.hear(message, from: .serial, of: .init(), at: .zero, after: &memory)
        var writer = JSONWriter()
        guard let isWritten = try? decoder.decode(message, from: .serial, heard: heard, into: &writer), isWritten else {
            return nil
        }
        return try? JSONValue(parsing: writer.bytes)
    }
}

@Suite("Serial lines that lose bytes")
struct DamagedLineTests {
    /// A block of a VE.Direct device; its sum is zero.
    private func block(millivolts: Int) -> [UInt8] {
        let text = "\r\nPID\t0xA071\r\nV\t\(millivolts)\r\nI\t400\r\nPPV\t11\r\nCS\t3\r\nChecksum\t"
        return Array(text.utf8) + [0 &- Array(text.utf8).reduce(0, &+)]
    }

    @Test(
        "HEX messages before and within a block leave its values alone, and come as their own", arguments: [0, 31, 48])
    func hexMessages(place: Int) throws {
        let hex = Array(":A20010022000000 08\n:ADBED0075080 6\n".utf8.filter { $0 != 0x20 })
        var bytes = block(millivolts: 26_100)
        for millivolts in [26_110, 26_120] {
            let next = block(millivolts: millivolts)
            bytes += next[..<place] + hex + next[place...]
        }
        var line = try LibraryLine(to: "ve-direct")
        let values = line.values(of: bytes + hex)
        #expect(values.compactMap { $0["voltage_v"]?.number } == [26.1, 26.11, 26.12])
        #expect(values.count { $0["hex_message"]?.string == ":A2001002200000008" } == 3)
        #expect(values.count { $0["hex_message"]?.string == ":ADBED00750806" } == 3)
    }

    @Test("a block of which the end is lost costs the next one nothing")
    func lostChecksum() throws {
        var line = try LibraryLine(to: "ve-direct")
        let bytes = block(millivolts: 26_100) + Array(block(millivolts: 26_110).dropLast(5)) + block(millivolts: 26_120)
        #expect(line.values(of: bytes).compactMap { $0["voltage_v"]?.number } == [26.1, 26.12])
    }

    /// A telegram with its CRC-16, polynomial 8005, lowest bit first.
    private func telegram(_ energy: String) -> [UInt8] {
        let text = Array("/XXX5\\TEST\r\n\r\n1-3:0.2.8(50)\r\n1-0:1.8.1(\(energy)*kWh)\r\n!".utf8)
        var crc: UInt16 = 0
        for byte in text {
            crc ^= UInt16(byte)
            for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : crc >> 1 ^ 0xa001 }
        }
        return text + Array([UInt8(crc >> 8), UInt8(crc & 0xff)].hexadecimal.uppercased().utf8) + [0x0d, 0x0a]
    }

    @Test("a telegram without its last line costs the next one nothing")
    func lostTelegramEnd() throws {
        var line = try LibraryLine(to: "dsmr-p1-meter")
        let bytes = Array(telegram("009418.700").dropLast(7)) + telegram("009418.808")
        #expect(line.values(of: bytes).compactMap { $0["energy_import_tariff1_kwh"]?.number } == [9418.808])
    }

    /// A frame of a particle sensor, with its sum.
    private func frame(_ number: UInt8) -> [UInt8] {
        let bytes: [UInt8] = [
            0x42, 0x4d, 0, 28, 0, number, 0, 6, 0, 7, 0, number, 0, 6, 0, 7, 3, 0x84, 1, 0x2c, 0, 0x3c, 0, 9, 0, 2, 0,
            1,
            0x97, 0,
        ]
        let sum = bytes.reduce(0) { $0 + Int($1) }
        return bytes + [UInt8(sum >> 8), UInt8(sum & 0xff)]
    }

    @Test("a frame that is short of a byte costs the next one nothing")
    func lostByte() throws {
        var line = try LibraryLine(to: "plantower-pms5003")
        let bytes = frame(5) + frame(6).filter { $0 != 0x3c } + frame(7) + frame(8)
        let values = line.values(of: bytes)
        #expect(values.count == 3 && values[0] != values[1] && values[1] != values[2])
    }

    @Test("a sentence that is cut costs the next one nothing, once its kind is known")
    func cutSentence() throws {
        let sentences = ["$GPGLL,4916.45,N,12311.12,W,225444,A,*1D", "$GPGLL,4916.45,N,12311.12,W,225445,A,*1C"]
        let cut = "\(sentences[0])\r\n$GPGLL,4916\(sentences[1])\r\n"
        for name in ["gps-receiver", "bluetooth-gps", "nmea-instrument", "gnss-ublox"] {
            var line = try LibraryLine(to: name)
            #expect(line.values(of: Array(cut.utf8)).count == 2, "\(name)")
        }
    }
}
