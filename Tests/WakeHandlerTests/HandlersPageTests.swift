// The programs that docs/how-to/write-a-handler.md and docs/reference/swift-api.md show, taken from their text and run.
import TestBench
import Testing

@Suite("Programs of the handlers' page")
struct HandlersPageTests {
    private let directory = temporaryDirectory()
    private let page: Document
    private let lines = [
        notice("restored", "{\"reason\":\"event\",\"devices\":[],\"checkpoint\":null}"), event(3), event(4),
    ]

    init() throws { page = try Document("docs/how-to/write-a-handler.md") }

    @Test("the shortest handler, in shell, answers events and no notice")
    func shell() throws {
        let block = try #require(page.block("sh", with: "#!/bin/sh"))
        put(block.text + "\n", at: "\(directory)/handler.sh", mode: 0o755)
        let output = runProgram(["\(directory)/handler.sh"], input: lines, in: directory)
        #expect(output.status == 0)
        #expect(output.replies == ["{\"ack\":3}", "{\"ack\":4}"])
        #expect(output.standardOutput == [3, 4].map { "got event \($0): wakebridge.device.data" })
    }

    @Test("the shortest handler is tried without a bridge as the page says")
    func trial() throws {
        let words = page.text.split(separator: "`").map(String.init)
        let command = try #require(words.first { $0.hasPrefix("cat ") })
        let block = try #require(page.block("sh", with: "#!/bin/sh"))
        put(block.text + "\n", at: "\(directory)/handler.sh")
        let tried = "cd '\(packageFolder)' && \(command.replacing(" handler.sh", with: " '\(directory)/handler.sh'"))"
        let output = runProgram(["/bin/sh", "-c", tried], input: [], in: directory)
        #expect(output.status == 0)
        #expect(output.standardOutput.map { $0.prefix { $0 != ":" } } == (1...96).map { "got event \($0)" })
        #expect(output.standardOutput.last == "got event 96: wakebridge.device.disconnected")
    }

    @Test("the handler in Python answers events and no notice")
    func python() throws {
        let block = try #require(page.block("python", with: "import json"))
        put(block.text + "\n", at: "\(directory)/handler.py")
        let output = runProgram(["/usr/bin/python3", "\(directory)/handler.py"], input: lines, in: directory)
        #expect(output.status == 0)
        #expect(output.replies == ["{\"ack\":3}", "{\"ack\":4}"])
        #expect(output.standardOutput.count == 2 && output.standardOutput.allSatisfy { $0.contains("73") })
    }

    @Test(
        "the handlers in Swift are the examples that are built, line for line, and answer events",
        arguments: ["BeatPrinter", "BeatSequence"])
    func swift(example name: String) throws {
        let example = text(of: "\(packageFolder)/Examples/handlers/\(name)/main.swift").split(separator: "\n")
        let library = try Document("docs/reference/swift-api.md")
        #expect(library.blocks.contains { $0.language == "swift" && example.dropFirst().elementsEqual($0.lines) })
        let output = runProgram(["\(builtPrograms)/Example\(name)"], input: lines, in: directory)
        #expect(output.status == 0)
        #expect(output.replies.filter { $0.contains("ack") } == [3, 4].map { "{\"ack\":\($0),\"result\":\"useful\"}" })
        #expect(output.standardOutput == ["73 bpm", "73 bpm"])
    }
}
