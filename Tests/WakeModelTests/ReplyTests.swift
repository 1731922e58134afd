// What handlers may say, and how bytes become lines.
import Testing

@testable import WakeModel

@Suite("Replies")
struct ReplyTests {
    private func parse(_ text: String) throws -> ReplyLine { try ReplyLine.parse(Array(text.utf8)[...]) }

    @Test(
        "an acknowledgement reads the same with and without the parser",
        arguments: ["{\"ack\":42}", "{\"ack\": 42}", "{ \"ack\" : 42 }", "{\"ack\":42,\"ref\":null}", "\t{\"ack\":42}"])
    func acknowledges(text: String) throws {
        #expect(try parse(text).reply == .ack(Sequence(42), result: nil))
    }

    @Test("an acknowledgement takes numbers up to the largest that JSON readers keep exactly")
    func acknowledgesLargest() throws {
        #expect(try parse("{\"ack\":999999999999999999}").reply == .ack(Sequence(999_999_999_999_999_999), result: nil))
        #expect(try parse("{\"ack\":\(Int64.max)}").reply == .ack(Sequence(UInt64(Int64.max)), result: nil))
        for digits in 19...21 {
            let beyond = String(repeating: "9", count: digits)
            #expect(throws: ProtocolFault.self) { try parse("{\"ack\":\(beyond)}") }
        }
    }

    @Test("a line of a log is taken for an answer only where it is one whole answer to an event")
    func answersInLogs() {
        for line in ["{\"ack\":1}", "{\"ack\": 1, \"result\": \"useful\"}", "{\"nack\":3,\"after_s\":2}"] {
            #expect(ReplyLine.isAnswer(line), "\(line)")
        }
        let others = [
            "beat 72", "{\"bpm\":72}", "{\"ack\":true}", "sent {\"ack\":1}", "{\"checkpoint\":\"a\"}", "{}", "",
        ]
        for line in others { #expect(!ReplyLine.isAnswer(line), "\(line)") }
    }

    @Test("every verb of the contract is understood")
    func understandsVerbs() throws {
        let written: [(String, Reply)] = [
            ("{\"ack\":1,\"result\":\"nothing\"}", .ack(Sequence(1), result: .nothing)),
            ("{\"nack\":42,\"after_s\":30}", .nack(Sequence(42), after: .seconds(30))),
            ("{\"nack\":42,\"after_s\":0.25}", .nack(Sequence(42), after: .milliseconds(250))),
            ("{\"nack\":42,\"after_s\":0}", .nack(Sequence(42), after: .zero)),
            ("{\"nack\":42}", .nack(Sequence(42), after: nil)),
            ("{\"ready\":true}", .ready),
            ("{\"begin\":\"upload\"}", .begin("upload")),
            ("{\"end\":\"upload\"}", .end("upload")),
            ("{\"remaining\":true}", .remaining),
            ("{\"checkpoint\":\"\\u00e4\"}", .checkpoint("ä")),
            (
                "{\"write\":{\"device\":\"chest-strap\",\"characteristic\":\"2a39\",\"hex\":\"01\"}}",
                .write(
                    DeviceAddress(device: "chest-strap", channel: .characteristic(BluetoothUUID(short: 0x2a39))),
                    bytes: [1])
            ),
            (
                "{\"read\":{\"device\":\"scanner\",\"stream\":\"report-3\"}}",
                .read(DeviceAddress(device: "scanner", channel: .report(3)))
            ),
        ]
        for (text, reply) in written { #expect(try parse(text).reply == reply, "\(text)") }
    }

    @Test(
        "a ref comes back exactly as it was written",
        arguments: ["1", "1.0", "1e3", "-0", "\"a\\u0062\"", "true", "null", "\"},\\\"{\"", "\"\\\",\\u0062{\""])
    func keepsReference(text: String) throws {
        #expect(try parse("{\"remaining\":true, \"ref\" :\t\(text) }").reference?.text == text)
        #expect(try parse("{\"ref\":\(text),\"remaining\":true}").reference?.text == text)
    }

    @Test("a ref whose name is written with escapes keeps its value")
    func keepsEscapedReference() throws {
        #expect(try parse("{\"remaining\":true,\"\\u0072ef\":7}").reference?.text == "7")
    }

    @Test("what the library writes, the bridge reads")
    func readsItsOwnWriting() throws {
        let address = DeviceAddress(device: "a \"b\"", channel: .serial)
        let replies: [Reply] = [
            .ack(Sequence(7), result: .failed), .nack(Sequence(7), after: .milliseconds(1500)),
            .nack(Sequence(7), after: nil),
            .ready, .begin("ü"), .end("ü"), .remaining, .write(address, bytes: [0, 255]), .read(address),
            .checkpoint("\n\u{7f}"),
        ]
        for reply in replies {
            let line = ReplyLine(reply, reference: Reference(9))
            var writer = JSONWriter()
            line.write(into: &writer)
            #expect(try ReplyLine.parse(writer.bytes.dropLast()) == line)
        }
    }
}

@Suite("Lines from a descriptor")
struct LineSplitterTests {
    private func lines(_ chunks: [[UInt8]], limit: Int = 16) -> [String] {
        var splitter = LineSplitter(limit: limit)
        var found: [String] = []
        func take(_ result: Result<ArraySlice<UInt8>, ProtocolFault>) {
            switch result {
            case .success(let line): found.append(String(decoding: line, as: UTF8.self))
            case .failure(let fault): found.append("!\(fault.code.rawValue)")
            }
        }
        for chunk in chunks {
            splitter.append(chunk)
            while let result = splitter.next() { take(result) }
        }
        if let result = splitter.finish() { take(result) }
        return found
    }

    @Test("lines are the same however their bytes arrive")
    func splitsAnywhere() {
        let text = Array("one\r\ntwo\n\n\r\nfar too long for its limit\nthree\nand a tail".utf8)
        let expected = ["one", "two", "!too-long", "three", "and a tail"]
        #expect(lines([text]) == expected)
        #expect(lines(text.map { [$0] }) == expected)
        for cut in 0...text.count { #expect(lines([Array(text[..<cut]), Array(text[cut...])]) == expected) }
    }

    @Test("a line of exactly the limit is whole, with and without a carriage return")
    func keepsLongestLine() {
        let longest = String(repeating: "x", count: 16)
        #expect(
            lines(Array("\(longest)\r\n\(longest)\n\(longest)x\n".utf8).map { [$0] }) == [
                longest, longest, "!too-long",
            ])
    }

    @Test("a line that never ends gives one fault and holds no memory")
    func survivesUnending() {
        #expect(lines(Array(repeating: Array(repeating: 0x78, count: 100), count: 100)) == ["!too-long"])
    }

    @Test("NUL bytes and invalid UTF-8 pass through as bytes of a line")
    func passesBytes() {
        var splitter = LineSplitter()
        splitter.append([0, 0xff, 0x0a])
        guard case .success(let line)? = splitter.next() else { return #expect(Bool(false), "no line") }
        #expect(Array(line) == [0, 0xff])
    }
}
