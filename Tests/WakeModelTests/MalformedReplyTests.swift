// Every way a reply is known to be wrong, with the exact words that come back.
import Testing

@testable import WakeModel

struct MalformedReply: Sendable, CustomTestStringConvertible {
    var line: String
    var code: ProtocolFault.Code
    var sentence: String
    var testDescription: String { String(line.prefix(60)) }

    init(_ line: String, _ code: ProtocolFault.Code, _ sentence: String) {
        self.line = line
        self.code = code
        self.sentence = sentence
    }
}

private let nameLimit = "a text of 1 to 128 bytes"

let malformedReplies: [MalformedReply] = [
    MalformedReply("", .malformed, "The line is not JSON, at byte 0: expected a value, found the end."),
    MalformedReply(
        "ack 42", .malformed, "The line is not JSON, at byte 0: ack is not a value; a text needs quotes, \"ack\"."),
    MalformedReply("{\"ack\":42", .malformed, "The line is not JSON, at byte 9: expected ',' or '}', found the end."),
    MalformedReply(
        "{\"ack\":42}}", .malformed, "The line is not JSON, at byte 10: unexpected '}' after the end of the object."),
    MalformedReply(
        "{\"ack\":42} {\"ack\":43}", .malformed,
        "The line is not JSON, at byte 11: unexpected '{' after the end of the object."),
    MalformedReply("{ack:42}", .malformed, "The line is not JSON, at byte 1: expected a key in quotes, found 'a'."),
    MalformedReply(
        "{\"ack\":42,}", .malformed, "The line is not JSON, at byte 10: expected a key in quotes, found '}'."),
    MalformedReply(
        "{\"ack\":042}", .malformed,
        "The line is not JSON, at byte 7: 042 is a number that cannot be read; fix it or write a smaller one."),
    MalformedReply(
        "{\"ack\":1,\"ack\":2}", .malformed, "The line is not JSON, at byte 9: key \"ack\" comes twice; keep one."),
    MalformedReply(
        "{\"checkpoint\":\"a", .malformed,
        "The line is not JSON, at byte 14: a text that starts here has no closing quote."),
    MalformedReply(
        "{\"checkpoint\":\"\u{0}\"}", .malformed,
        "The line is not JSON, at byte 15: a control character inside a text; write it as an escape, such as \\t."),
    MalformedReply("[1]", .malformed, "The line must be a JSON object; got [1]."),
    MalformedReply("42", .malformed, "The line must be a JSON object; got 42."),
    MalformedReply("\"ack\"", .malformed, "The line must be a JSON object; got \"ack\"."),
    MalformedReply("{}", .malformed, "The line holds no verb."),
    MalformedReply("{\"ref\":7}", .malformed, "The line holds no verb."),
    MalformedReply("{\"ack\":1,\"nack\":2}", .malformed, "Two verbs in one line, \"ack\" and \"nack\"."),
    MalformedReply("{\"begin\":\"a\",\"end\":\"a\"}", .malformed, "Two verbs in one line, \"begin\" and \"end\"."),
    MalformedReply("{\"akc\":1}", .unknownKey, "\"akc\" is no key of a reply; the nearest is \"ack\"."),
    MalformedReply(
        "{\"chekpoint\":\"\"}", .unknownKey, "\"chekpoint\" is no key of a reply; the nearest is \"checkpoint\"."),
    MalformedReply(
        "{\"nack\":1,\"after\":3}", .unknownKey, "\"after\" is no key of a reply; the nearest is \"after_s\"."),
    MalformedReply("{\"ack\":1,\"Ref\":3}", .unknownKey, "\"Ref\" is no key of a reply; the nearest is \"ref\"."),
    MalformedReply(
        "{\"ack\":1,\"after_s\":3}", .malformed, "\"after_s\" stands beside \"ack\", and goes with \"nack\" only."),
    MalformedReply(
        "{\"ready\":true,\"result\":\"useful\"}", .malformed,
        "\"result\" stands beside \"ready\", and goes with \"ack\" only."),
    MalformedReply("{\"ack\":0}", .malformed, "\"ack\" must be an event's seq, a whole number from 1; got 0."),
    MalformedReply("{\"ack\":-3}", .malformed, "\"ack\" must be an event's seq, a whole number from 1; got -3."),
    MalformedReply(
        "{\"ack\":1.5}", .malformed, "\"ack\" must be an event's seq, a whole number from 1; got 1.5."),
    MalformedReply(
        "{\"ack\":\"42\"}", .malformed, "\"ack\" must be an event's seq, a whole number from 1; got \"42\"."),
    MalformedReply(
        "{\"ack\":null}", .malformed, "\"ack\" must be an event's seq, a whole number from 1; got null."),
    MalformedReply(
        "{\"ack\":1,\"result\":\"usefull\"}", .unknownToken,
        "\"result\" knows no \"usefull\"; the nearest is \"useful\"."),
    MalformedReply("{\"ack\":1,\"result\":1}", .malformed, "\"result\" must be a word; got 1."),
    MalformedReply(
        "{\"nack\":true}", .malformed, "\"nack\" must be an event's seq, a whole number from 1; got true."),
    MalformedReply(
        "{\"nack\":1,\"after_s\":-1}", .malformed, "\"after_s\" must be a number of seconds from 0 to 86400; got -1."),
    MalformedReply(
        "{\"nack\":1,\"after_s\":86400.5}", .malformed,
        "\"after_s\" must be a number of seconds from 0 to 86400; got 86400.5."),
    MalformedReply(
        "{\"nack\":1,\"after_s\":\"30s\"}", .malformed,
        "\"after_s\" must be a number of seconds from 0 to 86400; got \"30s\"."),
    MalformedReply("{\"ready\":false}", .malformed, "\"ready\" must be true; got false."),
    MalformedReply("{\"remaining\":1}", .malformed, "\"remaining\" must be true; got 1."),
    MalformedReply("{\"begin\":\"\"}", .malformed, "\"begin\" must be a task's name, \(nameLimit); got \"\"."),
    MalformedReply("{\"end\":7}", .malformed, "\"end\" must be a task's name, \(nameLimit); got 7."),
    MalformedReply(
        "{\"begin\":\"\(String(repeating: "x", count: 129))\"}", .tooLong,
        "The task's name is 129 bytes long; the limit is 128 bytes."),
    MalformedReply("{\"checkpoint\":{\"n\":1}}", .malformed, "\"checkpoint\" must be a text; got {\"n\":1}."),
    MalformedReply(
        "{\"checkpoint\":\"\(String(repeating: "x", count: 16385))\"}", .tooLong,
        "The checkpoint is 16385 bytes long; the limit is 16384 bytes."),
    MalformedReply("{\"write\":1}", .malformed, "\"write\" must be an object; got 1."),
    MalformedReply(
        "{\"write\":{\"hex\":\"01\"}}", .malformed, "\"device\" of \"write\" must be a device's name; got null."),
    MalformedReply(
        "{\"write\":{\"device\":\"a\"}}", .malformed,
        "\"hex\" of \"write\" must be an even number of hexadecimal digits; got null."),
    MalformedReply(
        "{\"write\":{\"device\":\"a\",\"hex\":\"012\"}}", .malformed,
        "\"hex\" of \"write\" must be an even number of hexadecimal digits; got \"012\"."),
    MalformedReply(
        "{\"write\":{\"device\":\"a\",\"hexx\":\"01\"}}", .unknownKey,
        "\"hexx\" is no key of \"write\"; the nearest is \"hex\"."),
    MalformedReply(
        "{\"read\":{\"device\":\"a\",\"hex\":\"01\"}}", .unknownKey,
        "\"hex\" is no key of \"read\"."),
    MalformedReply(
        "{\"read\":{\"device\":\"a\",\"characteristic\":\"2a3\"}}", .malformed,
        "\"characteristic\" must be a Bluetooth UUID; got \"2a3\"."),
    MalformedReply(
        "{\"read\":{\"device\":\"a\",\"stream\":\"report-256\"}}", .unknownToken,
        "\"stream\" must be serial, input or report-0 to report-255; got \"report-256\"."),
    MalformedReply(
        "{\"read\":{\"device\":\"a\",\"stream\":\"advertisement\"}}", .unknownToken,
        "\"stream\" must be serial, input or report-0 to report-255; got \"advertisement\"."),
    MalformedReply(
        "{\"read\":{\"device\":\"a\",\"stream\":\"serial\",\"characteristic\":\"2a39\"}}", .malformed,
        "\"read\" names both a characteristic and a stream."),
    MalformedReply(
        "{\"write\":{\"device\":\"a\",\"characteristic\":\"2a39\",\"hex\":\"\(String(repeating: "00", count: 513))\"}}",
        .tooLong,
        "The value is 513 bytes long; the limit is 512 bytes."),
    MalformedReply(
        "{\"ack\":1,\"ref\":[1]}", .malformed, "\"ref\" must be a text, a number, true, false or null; got [1]."),
    MalformedReply(
        "{\"ack\":1,\"ref\":\"\(String(repeating: "x", count: 255))\"}", .tooLong,
        "The ref is 257 bytes long; the limit is 256 bytes."),
    MalformedReply(
        "{\(String(repeating: "\"a\":1,", count: 16))}", .malformed,
        "The line is not JSON, at byte 7: key \"a\" comes twice; keep one."),
    MalformedReply(
        String(repeating: "x", count: 131_073), .tooLong, "The line is too long; the limit is 131072 bytes."),
]

/// Nil where the line is a reply after all.
private func fault(_ line: ArraySlice<UInt8>) -> ProtocolFault? {
    do throws(ProtocolFault) {
        _ = try ReplyLine.parse(line)
        return nil
    } catch {
        return error
    }
}

@Suite("Malformed replies")
struct MalformedReplyTests {
    @Test("a malformed reply has no effect and names its fault", arguments: malformedReplies)
    func namesItsFault(reply: MalformedReply) {
        let found = fault(Array(reply.line.utf8)[...])
        #expect(found?.code == reply.code)
        #expect(found?.sentence == reply.sentence)
        #expect(found?.advice.last == ".")
    }

    @Test("a fault carries the ref of its line as it was written")
    func carriesReference() {
        let line = Array("{\"begin\":5, \"ref\" : 1.50 }".utf8)
        let found = fault(line[...])
        #expect(found?.reference?.text == "1.50")
    }

    @Test("invalid UTF-8 inside a string is malformed")
    func refusesInvalidUTF8() {
        let line = Array("{\"begin\":\"".utf8) + [0xff, 0xfe] + Array("\"}".utf8)
        let found = fault(line[...])
        #expect(found?.code == .malformed)
    }

    @Test("random bytes, and random damage to good lines, never crash")
    func survivesNoise() {
        var random = SystemRandomNumberGenerator()
        let seeds = [
            "{\"ack\":42}", "{\"write\":{\"device\":\"a\",\"hex\":\"01\"},\"ref\":[{\"]}",
            "{\"nack\":1,\"after_s\":0.5}",
        ]
        for _ in 0..<20_000 {
            var line = Array((seeds.randomElement(using: &random) ?? "").utf8)
            for _ in 0..<Int.random(in: 0..<6, using: &random) {
                let place = Int.random(in: 0...line.count, using: &random)
                let byte =
                    Bool.random()
                    ? UInt8.random(in: 0...255, using: &random) : Array("{}[],:\"\\".utf8).randomElement() ?? 0
                line.insert(byte, at: place)
            }
            _ = try? ReplyLine.parse(line[...])
            let noise = (0..<Int.random(in: 0..<40, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            _ = try? ReplyLine.parse(noise[...])
        }
    }
}
