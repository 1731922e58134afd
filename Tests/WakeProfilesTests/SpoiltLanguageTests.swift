// Profiles that were spoilt and bytes that were made by chance: named errors and undecodable messages, never a crash.
import TestBench
import Testing
import WakeModel

@testable import WakeProfiles

@Suite("Spoilt profiles and chance bytes")
struct SpoiltLanguageTests {
    /// Keys that the language gives; others are names that people choose.
    static let closed = Set(
        ProfileDocument.keys + ProfileDocument.channelKeys + ProfileDocument.matchKeys + FieldDocument.keys
            + FieldCompiler.groupKeys + FieldCompiler.variantKeys + FieldCompiler.recordKeys + FieldCompiler.textKeys
            + FieldCompiler.textFieldKeys + FieldCompiler.rateKeys + BytePattern.keys + CheckForm.keys + AskPlan.keys
            + AskPlan.pollKeys + ProfileDocument.framingKeys + ProfileDocument.lineKeys)

    /// The document with one member changed: its name, or its value to one of another type.
    private func spoilt(_ value: JSONValue, at place: inout Int, renaming: Bool) -> JSONValue {
        switch value {
        case .object(let members):
            return .object(
                members.map { member in
                    guard Self.closed.contains(member.name), !isChosen(member) else {
                        return .init(name: member.name, value: spoilt(member.value, at: &place, renaming: renaming))
                    }
                    place -= 1
                    if place == -1 {
                        return renaming
                            ? .init(name: member.name + "x", value: member.value)
                            : .init(name: member.name, value: .array([.boolean(true), .null]))
                    }
                    return .init(name: member.name, value: spoilt(member.value, at: &place, renaming: renaming))
                })
        case .array(let values): return .array(values.map { spoilt($0, at: &place, renaming: renaming) })
        case .null, .boolean, .integer, .number, .string: return value
        }
    }

    /// Names of bits are numbers or ranges, those of tables words: people choose them.
    private func isChosen(_ member: JSONValue.Member) -> Bool {
        ["low", "high", "kind"].contains(member.name) && member.value.integer != nil
    }

    @Test("each of 200 profiles with one key or value spoilt is refused with its file and its place")
    func profiles() throws {
        var count = 0
        let names = ["example", "example-accessory", "heart-rate-monitor", "gps-receiver"]
        for source in try shippedSources() where names.contains(source.name) {
            let document = try JSONValue(json5: try source.text())
            for renaming in [true, false] {
                var number = 0
                while true {
                    var place = number
                    let changed = spoilt(document, at: &place, renaming: renaming)
                    if place >= 0 { break }
                    number += 1
                    var writer = JSONWriter()
                    writer.value(changed)
                    let (library, errors) = ProfileLibrary.load([
                        .init(name: source.name, file: source.file, text: writer.bytes)
                    ])
                    #expect(library.names.isEmpty && !errors.isEmpty, "\(source.name) \(number) \(renaming)")
                    #expect(errors.allSatisfy { $0.file == source.file && $0.sentence.count > 10 })
                    count += 1
                }
            }
        }
        #expect(count >= 200, "\(count)")
    }

    @Test("tens of thousands of strings of chance bytes through every shipped layout make JSON or say why not")
    func bytes() throws {
        let library = try shippedLibrary().library
        var dice = Dice(26)
        var made = 0
        for name in library.names {
            let index = try #require(library.index(named: name))
            let decoder = library.decoder(index)
            for channel in library[index].programs.map(\.channel) + [.advertisement] {
                for _ in 0..<50 {
                    let text = dice.isOne(in: 3)
                    let alphabet = Array("$WGT,12.5kg*=V{}\"\\ \n".utf8) + [0, 1, 2, 9, 10, 0xff, 0x16]
                    let bytes = (0..<dice.below(40)).map { _ in
                        text || dice.isOne(in: 2) ? alphabet[dice.below(alphabet.count)] : UInt8(dice.below(256))
                    }
                    var writer = JSONWriter()
                    _ = decoder.handover(of: bytes, from: channel)
                    guard (try? decoder.decode(bytes, from: channel, into: &writer)) == true else {
                        #expect(writer.bytes.isEmpty)
                        continue
                    }
                    made += 1
                    #expect(throws: Never.self) { try JSONValue(parsing: writer.bytes) }
                }
            }
        }
        #expect(made > 500, "\(made)")
    }

    @Test("bytes are taken where they are enough, never otherwise, and those that are left over are shown")
    func enough() throws {
        let layout = #"""
            fields: [{name: "n", type: "uint8"},
              {name: "cells", repeat: "n", fields: [{name: "f", type: "uint8", bits: {more: 0}}, {name: "x", type: "uint16", if: "f.more"}]},
              {name: "end", type: "uint8", if: "left"}]
            """#
        let text =
            "{name: \"p\", title: \"P\", mode: \"bluetooth-central\", match: {services: [\"180d\"]}, characteristics: {\"2a37\": {name: \"c\", \(layout)}}}"
        let library = ProfileLibrary.load([.init(name: "p", file: "f", text: Array(text.utf8))]).library
        let decoder = library.decoder(try #require(library.index(named: "p")))
        var dice = Dice(27)
        var fitting = 0
        for _ in 0..<10_000 {
            let bytes = (0..<dice.below(12)).map { _ in UInt8(dice.below(4)) }
            var writer = JSONWriter()
            let isTaken =
                (try? decoder.decode(bytes, from: .characteristic(BluetoothUUID(short: 0x2a37)), into: &writer)) == true
            let rest = rest(of: bytes)
            #expect(isTaken == (rest != nil), "\(bytes)")
            let shown = isTaken ? try JSONValue(parsing: writer.bytes)["undecoded"]?.string : nil
            #expect((shown ?? "") == (rest ?? []).hexadecimal, "\(bytes)")
            fitting += isTaken ? 1 : 0
        }
        #expect(fitting > 500)
    }

    /// The same layout, read plainly: what is left over, or nil where the bytes are too few.
    private func rest(of bytes: [UInt8]) -> [UInt8]? {
        guard let count = bytes.first else { return nil }
        var place = 1
        for _ in 0..<count {
            guard place < bytes.count else { return nil }
            place += bytes[place] & 1 == 1 ? 3 : 1
        }
        return place <= bytes.count ? Array(bytes.dropFirst(place + 1)) : nil
    }
}
