// What handlers, programs, other bridges, brokers, servers and browsers say.
import WakeAPI
import WakeControl
import WakeMQTT
import WakeModel
import WakeSources
import WakeTransfer

enum LineTarget: String, CaseIterable {
    /// Of a handler, on descriptor 3.
    case replies
    /// Of a handler, to the socket of sd_notify(3).
    case service
    /// Between the daemon and the program that transfers.
    case transferLines = "transfer-lines"
    case partRecord = "part-record"
    /// Of a server from which something is transferred.
    case response
    /// Headers and payload of a message to a handler.
    case inbox
    /// To the API: what libmicrohttpd has parsed.
    case http
    case mqtt
    /// Of another bridge.
    case remote
}

extension LineTarget: OutsideReader {
    var files: [String] { self == .remote ? ["Devices/heart-rate-*/expected.ndjson"] : [] }

    func read(_ bytes: [UInt8]) -> Bool {
        switch self {
        case .replies: Self.readReplies(bytes)
        case .service: _ = ServiceMessage(parsing: bytes[...])
        case .transferLines: Self.readTransferLines(bytes)
        case .partRecord: Self.readPartRecord(bytes)
        case .response: Self.readResponse(bytes)
        case .inbox: Self.readMessage(bytes)
        case .http: Self.call(bytes)
        case .mqtt: Self.command(bytes)
        case .remote:
            for line in bytes.split(separator: UInt8(ascii: "\n")) { _ = try? RemoteLine(Array(line)) }
        }
        return true
    }

    private static func readReplies(_ bytes: [UInt8]) {
        var splitter = LineSplitter(limit: 4_096)
        var rest = bytes[...]
        while !rest.isEmpty {
            splitter.append(rest.prefix(1_024))
            rest = rest.dropFirst(1_024)
            while let line = splitter.next() { read(line) }
        }
        if let line = splitter.finish() { read(line) }
    }

    private static func read(_ line: Result<ArraySlice<UInt8>, ProtocolFault>) {
        guard case .success(let text) = line else { return }
        do throws(ProtocolFault) { _ = try ReplyLine.parse(text) } catch { _ = (error.sentence, error.advice) }
    }

    /// What is understood is written so that it is understood again.
    private static func readTransferLines(_ bytes: [UInt8]) {
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            if let command = AddressedCommand(line: line) {
                let again = command.command.line(for: command.id, in: command.directory).dropLast()
                precondition(AddressedCommand(line: again) != nil, "a command that was written does not read")
            }
            if let news = AddressedNews(line: line) {
                let again = news.news.line(of: news.id).dropLast()
                precondition(AddressedNews(line: again) == news, "news that were written read otherwise")
            }
        }
    }

    private static func readPartRecord(_ bytes: [UInt8]) {
        guard let record = PartRecord(bytes) else { return }
        _ = record.requestHeaders
        precondition(PartRecord(record.bytes) == record, "a record that was written reads otherwise")
    }

    private static func readResponse(_ bytes: [UInt8]) {
        var head = ResponseHead()
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            guard head.add(line) else { break }
        }
        _ = (head.validator, head.contentRange)
        guard let start = WebAddress("https://example.org/a") else { return }
        _ = Redirection(from: start, to: String(decoding: bytes.prefix(WebAddress.longest), as: UTF8.self), followed: 1)
    }

    /// Lines of `Name: value` up to an empty one.
    private static func headers(_ feed: inout ByteFeed) -> [ControlRequest.Parameter] {
        var headers: [ControlRequest.Parameter] = []
        while !feed.isEmpty, headers.count < 64 {
            let line = feed.textLine()
            guard !line.isEmpty else { break }
            let halves = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let value = halves.count > 1 ? String(halves[1].drop { $0 == " " }) : ""
            headers.append(ControlRequest.Parameter(halves[0].lowercased(), value))
        }
        return headers
    }

    private static func readMessage(_ bytes: [UInt8]) {
        var feed = ByteFeed(bytes)
        let headers = headers(&feed)
        let message = try? InboxMessage(payload: Array(feed.rest)) { header in
            headers.first { $0.name == header.rawValue.lowercased() }?.value
        }
        if let message {
            var writer = JSONWriter()
            message.write(into: &writer)
            precondition((try? JSONValue(parsing: writer.bytes)) != nil, "a message that was written is no JSON")
        }
        if let value = try? JSONValue(parsing: bytes) { _ = try? InboxMessage(value) }
    }

    /// A line such as `GET /v1/logs?lines=5`, headers, and the body.
    private static func call(_ bytes: [UInt8]) {
        var feed = ByteFeed(bytes)
        let words = feed.textLine().split(separator: " ", maxSplits: 1).map(String.init)
        guard words.count == 2 else { return }
        let halves = words[1].split(separator: "?", maxSplits: 1).map(String.init)
        let query = halves.dropFirst().flatMap { $0.split(separator: "&") }.map { pair in
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            return ControlRequest.Parameter(sides[0], sides.count > 1 ? sides[1] : "")
        }
        let path = (halves.first ?? "").split(separator: "/").map(String.init)
        let headers = headers(&feed)
        let request = ControlRequest(
            method: words[0], path: path, query: query, headers: headers, body: Array(feed.rest), access: .role(.pair))
        do throws(ControlRefusal) { _ = try API.read(request) } catch { _ = error.json }
        let named = { (name: String) in headers.filter { $0.name == name }.map(\.value) }
        _ = HostRules(names: ["pi.local"]).refusal(hosts: named("host"), origins: named("origin"), own: nil)
    }

    /// A topic, and on the next lines its payload.
    private static func command(_ bytes: [UInt8]) {
        var feed = ByteFeed(bytes)
        let topics = BridgeTopics(base: "wakebridge", bridge: "fuzzed")
        let topic = feed.textLine()
        _ = (topics.owner(of: topic), CommandAllowance.Entry(topic))
        guard let (kind, name) = BridgeCommand.target(of: topic, in: topics) else { return }
        let message = MQTTMessage(topic, Array(feed.rest))
        guard let command = try? BridgeCommand(kind, of: name, message) else { return }
        _ = CommandAllowance().allows(command)
        let answer = BridgeCommand.answer(Array("{\"done\":true}".utf8), to: command.reference)
        precondition((try? JSONValue(parsing: answer)) != nil, "an answer to a command is no JSON")
    }
}
