// The values of the library: times, decoded values as types of the author's, and the daemon's words.
import TestBench
import Testing
import WakeAgenda
import WakeCore
import WakeModel

@testable import WakeHandler

@Suite("Values of a handler's library")
struct ValueTests {
    private struct HeartRate: Decodable, Equatable {
        enum CodingKeys: String, CodingKey {
            case bpm, contact
            case intervals = "rr_s"
            case place, pairs
        }
        enum Place: String, Decodable { case chest, wrist }
        struct Pair: Decodable, Equatable { let id: UInt8 }

        let bpm: Int
        let contact: Bool?
        let intervals: [Double]
        let place: Place?
        let pairs: [Pair]?
    }

    private func value(_ text: String) throws -> DecodedValue {
        DecodedValue(json: try JSONValue(parsing: Array(text.utf8)))
    }

    @Test("a value becomes a Codable type of yours, with optionals, lists, enums and types inside it")
    func decodes() throws {
        let text = "{\"bpm\":62,\"rr_s\":[0.968,1],\"place\":\"chest\",\"contact\":null,\"pairs\":[{\"id\":7}]}"
        let rate = try value(text).decode(as: HeartRate.self)
        #expect(
            rate == HeartRate(bpm: 62, contact: nil, intervals: [0.968, 1], place: .chest, pairs: [.init(id: 7)]))
        #expect(try value("{\"a\":1,\"b\":2}").decode(as: [String: Int].self) == ["a": 1, "b": 2])
        #expect(try value("[[1,2,-3]]").decode(as: [[Int32]].self) == [[1, 2, -3]])
    }

    @Test("a field that is missing, of another type or too large for its type is named in the error")
    func refuses() throws {
        for (text, part) in [
            ("{\"rr_s\":[]}", "bpm"), ("{\"bpm\":\"x\",\"rr_s\":[]}", "Int"), ("[1]", "Dictionary"),
            ("{\"bpm\":1,\"rr_s\":[],\"pairs\":[{\"id\":300}]}", "UInt8"),
        ] {
            let error = thrown(DecodingError.self) { try value(text).decode(as: HeartRate.self) }
            #expect("\(try #require(error))".contains(part), "\(text)")
        }
    }

    @Test("a time is read and shown to the microsecond, and compared and subtracted")
    func times() throws {
        let text = "2026-11-21T07:42:46.727125Z"
        let time = try #require(Timestamp(text))
        #expect(time.description == text && time.microsecondsSince1970 == 1_795_246_966_727_125)
        #expect(abs(time.secondsSince1970 - 1_795_246_966.727125) < 1e-5)
        let later = Timestamp(microsecondsSince1970: time.microsecondsSince1970 + 1_500_000)
        #expect(time < later && later - time == .milliseconds(1500))
        #expect(Timestamp("yesterday") == nil)
    }

    private func words<Word: BridgeWord>(_ type: Word.Type) -> Set<String> {
        for word in Word.known { #expect(Word(word: word.word) == word) }
        #expect(Word(word: "of-tomorrow") == .other("of-tomorrow") && "\(Word(word: "x y"))" == "x y")
        return Set(Word.known.map(\.word))
    }

    @Test("every word that the daemon writes is a case, and every case is a word of the daemon")
    func wordsOfDaemon() {
        #expect(words(WakeHandler.GapCause.self) == Set(WakeModel.GapCause.allCases.map(\.rawValue)))
        #expect(words(AttentionKind.self) == Set(Attention.allCases.map(\.rawValue)))
        #expect(words(WakeHandler.Fragment.self) == Set(WakeModel.Fragment.allCases.map(\.rawValue)))
        #expect(words(WakeHandler.WakeReason.self) == Set(WakeCore.WakeReason.allCases.map(\.wireName)))
        #expect(words(WakeHandler.MemoryLevel.self) == ["some", "full"])
        #expect(words(RunCondition.self) == Set(WakeAgenda.Condition.plain.map(\.word)))
        let paths = [WakeAgenda.Condition.mount("/a b"), .unlocked("/c")].map(\.word)
        #expect([RunCondition.mount("/a b"), .unlocked("/c")].map(\.word) == paths)
        #expect(words(PendingState.self) == ["waiting", "queued", "running"])
        #expect(words(PendingSource.self) == Set(TriggerKind.all(.isPending).map(\.word)))
        #expect(words(RegionState.self) == Set(RegionPresence.allCases.map(\.rawValue)))
        #expect(words(TaskKind.self) == ["refresh", "processing", "continued"])
        #expect(words(ScheduleOutcome.self).isSuperset(of: ["set", "submitted", "replaced", "cancelled"]))
        #expect(Set(Weekday.allCases.map(\.rawValue)) == ["mon", "tue", "wed", "thu", "fri", "sat", "sun"])
        // What the daemon never says, but this library.
        let codes = words(BridgeError.Code.self).subtracting(["closed"])
        #expect(codes == Set(ProtocolFault.Code.allCases.map(\.rawValue)))
    }

    @Test("every word that the page on handlers explains is a case, and the other way round")
    func wordsOfPage() throws {
        let page = try Document("docs/reference/events-and-replies.md")
        let reasons = Set(page.words(below: "### Why a device is disconnected"))
        #expect(words(DisconnectReason.self) == reasons.subtracting(["0x2a"]))
        #expect(words(TerminationReason.self) == Set(page.words(below: "### Why you end")))
        #expect(words(BridgeCondition.self) == Set(page.words(below: "### Conditions of the bridge")))
        #expect(
            words(ExpirationReason.self) == Set(page.words(below: "### Why your time ends")).subtracting(["reason"]))
    }
}
