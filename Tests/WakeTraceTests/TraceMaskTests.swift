// Traces without what tells whose they are: each secret replaced wherever it stands, and the rest as it was.
import TestBench
import Testing
import WakeModel
import WakeTrace
import WakeTraceEditing

private let trace = """
    wakebridge-trace 1
    clock 2026-11-21T07:00:00.000000Z zone=Europe/Berlin
    device 1 bluetooth C0:F1:F2:F3:F4:01 alias="annas-strap" name="Anna's Polar"
    device 2 bluetooth 4C:F1:F2:F3:F4:02 advertisement=0d09416e6e6127732050656e6361
    device 3 accessory 2341:0043:75833353035:00 alias="gps" property.ID_SERIAL="Arduino_75833353035"
    +0.000000 handler hr manifest {"watch":[{"profile":"heart","device":"annas-strap"}],"poll":{"min_interval":"1h"}}
    +0.000000 1 connect
    +1.000000 1 attention pairing "Pair annas-strap (C0:F1:F2:F3:F4:01, dev_c0_f1_f2_f3_f4_01) again."
    +1.000000 1 data 2a00 416e6e61277320506f6c6172
    +1.000000 1 data 2a37 00c0f1f2f3f40148
    +1.000000 1 data 2a37 0001f4f3f2f1c048
    +1.000000 1 data 2a25 313233343536
    +1.000000 3 data serial 303030203735383333333533303335203030
    +1.000000 handler hr say {"alarm":{"id":"call Grandmother","in_s":240}}
    +1.000000 1 disconnect reason=timeout
    end

    """

private func read(_ mask: TraceMask) throws -> (text: String, operations: [TraceOperation]) {
    var mask = mask
    var (bytes, operations) = ([UInt8](), [TraceOperation]())
    var writer = TraceWriter(header: mask.header)
    writer.writeHeader(to: &bytes)
    while let operation = try mask.next() {
        writer.write(operation, to: &bytes)
        operations.append(operation)
    }
    writer.writeEnd(to: &bytes)
    return (String(decoding: bytes, as: UTF8.self), operations)
}

private func mask(_ text: String, _ terms: TraceMask.Terms = .init()) throws -> TraceMask {
    try TraceMask(TraceReader(bytes: Array(text.utf8)), terms)
}

/// What becomes of one message of a serial device.
private func heard(_ messages: [String], as channel: String = "serial") throws -> [String] {
    let lines = messages.map { "+1 1 data \(channel) \(Array($0.utf8).hexadecimal)\n" }.joined()
    let head = "wakebridge-trace 1\nclock 2026-11-21T07:00:00Z\ndevice 1 accessory 1546:01a7:@1-4:00\n"
    return try read(mask(head + lines + "end\n")).operations.map { operation in
        guard case .data(_, let bytes) = operation.kind else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }
}

@Suite("Anonymous traces")
struct TraceMaskTests {
    @Test("no address, name, alias or serial number stays, in texts or in messages, and the rest of each line does")
    func hides() throws {
        let (text, operations) = try read(mask(trace))
        let secrets = ["f1:f2:f3", "f1_f2_f3", "f1f2f3f4", "f4f3f2f1", "anna", "75833353035", "gps", "123456"]
        for secret in secrets {
            #expect(!text.lowercased().contains(secret), "\(secret): \(text)")
            #expect(!text.contains(Array(secret.utf8).hexadecimal), "\(secret): \(text)")
        }
        // Capitals too, in the message that is the name.
        #expect(!text.contains("416e6e61"), "\(text)")
        #expect(operations.count == 10 && text.contains("+1.000000 1 disconnect reason=timeout\nend\n"))
        #expect(text.contains("call Grandmother") && text.contains("2341:0043:"))
    }

    @Test("a secret has one stand-in, of the same length in messages, and a manifest goes on naming its device")
    func sameEverywhere() throws {
        let (text, operations) = try read(mask(trace))
        let header = try mask(trace).header
        let (alias, address) = (try #require(header.devices[0].alias), header.devices[0].address)
        #expect(text.contains("\"device\":\"\(alias)\""))
        let small = address.lowercased().replacing(":", with: "_")
        #expect(text.contains("Pair \(alias) (\(address), dev_\(small)) again."))
        let digits = address.lowercased().replacing(":", with: "")
        #expect(text.contains("data 2a37 00\(digits)48"))
        let before = Array(trace.split(separator: "\n").filter { $0.contains(" data ") })
        let after = Array(text.split(separator: "\n").filter { $0.contains(" data ") })
        #expect(before.map(\.count) == after.map(\.count) && operations.count == 10)
        #expect(text == (try read(mask(trace)).text))
    }

    @Test("an address keeps the two bits by which a random one is known, and no two become one")
    func types() throws {
        let devices = (0..<200).map { place in
            let first = [UInt8(truncatingIfNeeded: place * 64)].hexadecimal
            return "device \(place + 1) bluetooth \(first):00:00:00:00:\([UInt8(place)].hexadecimal)\n"
        }
        let text = "wakebridge-trace 1\nclock 2026-11-21T07:00:00Z\n" + devices.joined() + "end\n"
        let (before, after) = (try TraceCut(TraceReader(bytes: Array(text.utf8))).header, try mask(text).header)
        let (real, masked) = (before.devices.map(\.address), after.devices.map(\.address))
        #expect(Set(masked).count == 200 && Set(masked).isDisjoint(with: real))
        let kinds = zip(real, masked).map { (RadioAddress($0)?.number ?? 0) ^ (RadioAddress($1)?.number ?? 0) }
        #expect(kinds.allSatisfy { $0 >> 46 == 0 })
    }

    @Test("a word that you ask for goes too, in any capitals, in messages and in the names of members")
    func words() throws {
        let terms = TraceMask.Terms(words: ["grandmother", "Berlin", "240", "alarm"])
        let text = try read(mask(trace, terms)).text
        for word in ["randmother", "erlin", "240", "alarm"] { #expect(!text.contains(word), "\(word): \(text)") }
        let message =
            "wakebridge-trace 1\nclock 2026-11-21T07:00:00Z\ndevice 1 accessory 1:2:3\n"
            + "+1 1 data serial \(Array("To GRANDMOTHER".utf8).hexadecimal)\nend\n"
        let told = try read(mask(message, terms)).operations.first?.kind
        guard case .data(_, let bytes) = told else { return #expect(Bool(false), "no data") }
        #expect(bytes.count == 14 && String(decoding: bytes, as: UTF8.self).hasPrefix("To word-"))
    }

    @Test("names stay where that is asked for, and all else goes")
    func keepsNames() throws {
        let masked = try mask(trace, .init(keepsNames: true))
        #expect(masked.header.devices[0].name == "Anna's Polar" && masked.header.devices[0].alias != "annas-strap")
        #expect(masked.header.devices[1].advertisement.hexadecimal.contains("416e6e61"))
    }

    @Test("a JSON object that holds no secret stays as it was written, byte for byte")
    func keepsText() throws {
        let line = #"+1.000000 handler hr say {"ack" : 7,  "note":"\u0041"}"#
        let text = "wakebridge-trace 1\nclock 2026-11-21T07:00:00.000000Z\ndevice 1 accessory 1:2:3\n\(line)\nend\n"
        #expect(try read(mask(text)).text.contains(line))
    }

    @Test(
        "positions of NMEA sentences become zeros, right sums stay right, and wrong ones wrong",
        arguments: [
            (
                "$GPGGA,092750.000,5321.6802,N,00630.3372,W,1,8,1.03,61.7,M,55.2,M,,*76\r\n",
                "$GPGGA,092750.000,0000.0000,N,00000.0000,W,1,8,1.03,00.0,M,00.0,M,,*"
            ),
            (
                "$GPRMC,092750.000,A,5321.6802,N,00630.3372,W,0.02,31.66,280511,,,A*43\r\n",
                "$GPRMC,092750.000,A,0000.0000,N,00000.0000,W,0.02,31.66,280511,,,A*"
            ),
            ("$GNGLL,5321.6802,S,00630.3372,E,1,A*00\r\n", "$GNGLL,0000.0000,S,00000.0000,E,1,A*00"),
            (
                "$GPGSV,3,1,11,10,63,137,17,07,61,098,15*79\r\n",
                "$GPGSV,3,1,11,10,00,000,17,07,00,000,15*"
            ), ("$GPVTG,031.66,T,,M,0.02,N,0.04,K,A*00\r\n", "$GPVTG,031.66,T,,M,0.02,N,0.04,K,A*00"),
        ])
    func positions(sentence: String, wanted: String) throws {
        let message = try #require(heard([sentence]).first)
        #expect(message.hasPrefix(wanted) && message.utf8.count == sentence.utf8.count, "\(message)")
        func sum(_ text: String) -> (said: String, right: String) {
            let body = text.dropFirst().prefix { $0 != "*" }
            let right: UInt8 = body.utf8.reduce(0) { $0 ^ $1 }
            return (String(text.drop { $0 != "*" }.dropFirst().prefix(2)), [right].hexadecimal.uppercased())
        }
        let (before, after) = (sum(sentence), sum(message))
        #expect((before.said == before.right) == (after.said == after.right), "\(message)")
    }

    @Test("a sentence in pieces tells no position, and another device's numbers stay")
    func pieces() throws {
        let pieces = ["$GPRMC,092750.000,A,532", "1.6802,N,00630.33", "72,W,0.02,31.66,280511"]
        let told = try heard(pieces)
        #expect(told == ["$GPRMC,092750.000,A,000", "0.0000,N,00000.00", "00,W,0.02,31.66,000000"])
        #expect(try heard(["21.6802,N,00630.33"], as: "serial-no-start") == ["00.0000,N,00000.00"])
        let others = ["temp,21.5,22.5", "21.5", "a,b", "$"]
        #expect(try heard(others) == others)
    }

    /// With u-blox' sum of two bytes behind it, or SiRF's.
    private static func ubx(_ group: UInt8, _ number: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let body = [group, number, UInt8(payload.count & 255), UInt8(payload.count >> 8)] + payload
        let sum = body.reduce((UInt8(0), UInt8(0))) { ($0.0 &+ $1, $0.1 &+ $0.0 &+ $1) }
        return [0xb5, 0x62] + body + [sum.0, sum.1]
    }

    private static func sirf(_ payload: [UInt8]) -> [UInt8] {
        let sum = payload.reduce(0) { ($0 + Int($1)) & 0x7fff }
        return [0xa0, 0xa2, 0, UInt8(payload.count)] + payload + [UInt8(sum >> 8), UInt8(sum & 255), 0xb0, 0xb3]
    }

    private static func ramp(_ count: Int, without hidden: Range<Int> = 0..<0) -> [UInt8] {
        (0..<count).map { hidden.contains($0) ? 0 : UInt8($0 + 1) }
    }

    @Test("positions in binary messages of u-blox and SiRF become zeros with a right sum, wherever a message is cut")
    func binaryPositions() throws {
        let geodetic = [41] + Self.ramp(90)
        let masked = [41] + Self.ramp(90, without: 22..<38)
        let (before, after) = (
            Self.ubx(1, 7, Self.ramp(92)) + Self.ubx(1, 2, Self.ramp(28)) + Self.sirf(geodetic)
                + Self.ubx(1, 3, Self.ramp(16)),
            Self.ubx(1, 7, Self.ramp(92, without: 24..<40)) + Self.ubx(1, 2, Self.ramp(28, without: 4..<20))
                + Self.sirf(masked) + Self.ubx(1, 3, Self.ramp(16))
        )
        for cut in 0...before.count {
            let pieces = [before[..<cut], before[cut...]].filter { !$0.isEmpty }.map { Array($0) }
            #expect(try heardBytes(pieces).flatMap { $0 } == after, "cut at byte \(cut)")
        }
        let wrong = Self.ubx(1, 2, Self.ramp(28)).dropLast() + [0]
        let told = try heardBytes([Array(wrong)]).flatMap { $0 }
        #expect(told.count == wrong.count && told.last == 0, "a sum that was wrong stays so")
        let others: [[UInt8]] = [
            [0xb5], [0x62, 1, 7], [0xa0, 0xa1, 0xb5, 0x63], [0xb5, 0x62, 0x0a, 4, 1, 0, 7, 9, 9],
        ]
        #expect(try heardBytes(others) == others)
    }

    @Test("what comes after lost bytes is read from its own beginning")
    func positionsAfterGap() throws {
        let (cut, whole) = (Array(Self.ubx(1, 7, Self.ramp(92)).prefix(60)), Self.ubx(1, 2, Self.ramp(28)))
        let told = try heardBytes([cut, whole], between: "+0 1 gap link count=1 for=1\n")
        #expect(told.last == Self.ubx(1, 2, Self.ramp(28, without: 4..<20)))
    }

    private func heardBytes(_ messages: [[UInt8]], between line: String = "") throws -> [[UInt8]] {
        let lines = messages.map { "+1 1 data serial \($0.hexadecimal)\n" }.joined(separator: line)
        let head = "wakebridge-trace 1\nclock 2026-11-21T07:00:00Z\ndevice 1 accessory 1546:01a7:@1-4:00\n"
        return try read(mask(head + lines + "end\n")).operations.map { operation in
            guard case .data(_, let bytes) = operation.kind else { return [] }
            return bytes
        }
    }
}
