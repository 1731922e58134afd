// The promise on a running bridge: whatever is malformed is named, and everything else goes on.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("Bad input to a running bridge", .serialized)
struct BadInputTests {
    /// A bridge with a strap that has connected, and one good handler that has been woken for it.
    private func bridge() throws -> RunningDaemon {
        let daemon = try RunningDaemon()
        try daemon.write(Script.diary, to: "diary.py")
        try daemon.write(strapTrace(), to: "strap.trace")
        try daemon.drop("good", manifest("\(daemon.folder)/diary.py"))
        return daemon
    }

    /// The good handler is woken for one more event, and the bridge answers.
    private func expectWellBeing(_ daemon: RunningDaemon, after what: String) throws {
        let before = daemon.diary("good").count
        #expect(try daemon.tool("simulate", "disconnect", "strap").exit == 0, "after \(what)")
        #expect(daemon.wait { daemon.diary("good").count > before }, "nobody is woken after \(what)\n\(daemon.log)")
        #expect(try daemon.tool("status").exit == 0, "after \(what)")
    }

    @Test("the table of bad inputs has at least sixty rows")
    func isLongEnough() {
        #expect(brokenManifests.count + brokenProfiles.count + brokenTraces.count + brokenReplies.count >= 60)
    }

    @Test("every broken manifest is named in the log and by reload, and changes nothing for the handler that runs")
    func manifests() throws {
        let daemon = try bridge()
        try daemon.start("--replay", "\(daemon.folder)/strap.trace")
        for broken in brokenManifests {
            let mark = daemon.log.utf8.count
            try daemon.drop("broken", broken.text)
            #expect(
                daemon.wait { daemon.log(after: mark).contains(broken.words) }, "\(broken): \(daemon.log(after: mark))")
            let reload = try daemon.tool("reload")
            #expect(reload.exit == 1 && reload.talk.contains(broken.words), "\(reload)")
            try expectWellBeing(daemon, after: broken.words)
        }
        #expect(try daemon.json("handlers")["handlers"]?.array?.count == 1)
        try File.remove(daemon.manifests + "/broken.json5")
        #expect(daemon.wait { (try? daemon.tool("reload").exit) == 0 })
    }

    @Test("a manifest that becomes broken leaves the handler running as it was")
    func breaking() throws {
        let daemon = try bridge()
        try daemon.start("--replay", "\(daemon.folder)/strap.trace")
        try #require(daemon.wait { (try? daemon.state(of: "good")) == "suspended" })
        let pid = try daemon.handler("good")["pid"]
        try daemon.drop("good", "{ exec: 7 }")
        #expect(daemon.wait { daemon.log.contains("exec must be") })
        try expectWellBeing(daemon, after: "its own manifest broke")
        #expect(try daemon.handler("good")["pid"] == pid)
    }

    @Test("every broken profile is named and left out, and the others are used")
    func profiles() throws {
        let daemon = try bridge()
        for (number, broken) in brokenProfiles.enumerated() {
            let text = broken.text.replacing("NAME", with: "broken-\(number)")
            try daemon.write(text, to: "config/Devices/broken-\(number)/profile.json5")
        }
        try daemon.start("--replay", "\(daemon.folder)/strap.trace")
        for (number, broken) in brokenProfiles.enumerated() {
            let lines = daemon.log.split(separator: "\n").filter {
                $0.contains("Devices/broken-\(number)/profile.json5")
            }
            #expect(lines.contains { $0.contains(broken.words) && $0.contains("left out") }, "\(broken): \(lines)")
        }
        try expectWellBeing(daemon, after: "broken profiles")
    }

    @Test("every broken trace ends replay with exit 1 and its line; a daemon that should play it says so and runs on")
    func traces() throws {
        let daemon = try bridge()
        for broken in brokenTraces {
            try daemon.write(broken.text, to: "broken.trace")
            let path = daemon.folder + "/broken.trace"
            let replay = try Child([Built.tool, "replay", path]).finish()
            #expect(replay.exit == 1 && replay.talk.contains(broken.words), "\(broken): \(replay.talk)")
            let mark = daemon.log.utf8.count
            try daemon.start("--replay", path, "--speed", "max")
            #expect(
                daemon.wait { daemon.log(after: mark).contains(broken.words) }, "\(broken): \(daemon.log(after: mark))")
            #expect(try daemon.state(of: "good") != "none")
            #expect(try daemon.stop() == 0)
        }
    }

    @Test(
        "every broken reply is answered with its code and sentence, acknowledges nothing, and disturbs no other handler"
    )
    func replies() throws {
        let daemon = try bridge()
        try daemon.write(Script.puppet, to: "puppet.py")
        try daemon.drop("bad", manifest("\(daemon.folder)/puppet.py", "budget: \"1h\", max_batch: 1"))
        try daemon.start("--replay", "\(daemon.folder)/strap.trace")
        try #require(daemon.wait { daemon.diary("bad").count == 2 }, "\(daemon.log)")
        let sequence = try #require(daemon.diary("bad")[1].split(separator: " ").last)
        for (number, broken) in brokenReplies.enumerated() {
            let line = String(decoding: broken.bytes, as: UTF8.self).replacing("SEQ", with: sequence)
            let isText = broken.bytes.contains { $0 >= 0x80 } == false
            try order(isText ? Array(line.utf8) : broken.bytes, daemon)
            try #require(
                daemon.wait { errors(daemon).count == number + 1 }, "\(broken.words): \(errors(daemon).last ?? "")")
            let answer = try JSONValue(parsing: Array((errors(daemon).last ?? "").utf8))["data"] ?? .null
            #expect(answer["sentence"]?.string?.contains(broken.words) == true, "\(broken.words): \(answer)")
            if !broken.code.isEmpty { #expect(answer["code"]?.string == broken.code, "\(broken.words): \(answer)") }
            #expect(try daemon.handler("bad")["open"]?.integer == 1, "\(broken.words)")
            try expectWellBeing(daemon, after: broken.words)
        }
        try order(Array("{\"ack\":\(sequence)}".utf8), daemon)
        #expect(daemon.wait { daemon.diary("bad").count == 3 }, "what was open is acknowledged in the end")
    }

    private func errors(_ daemon: RunningDaemon) -> [String] {
        let text = (try? File.text(at: "\(daemon.state)/handlers/bad/errors")) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    private func order(_ bytes: [UInt8], _ daemon: RunningDaemon) throws {
        var line: [UInt8] = []
        line.appendHexadecimal(bytes)
        line.append(UInt8(ascii: "\n"))
        let descriptor = open("\(daemon.state)/handlers/bad/orders", O_WRONLY)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var sent = 0
        while sent < line.count {
            let count = Glibc.write(descriptor, Array(line[sent...]), line.count - sent)
            if count < 0, errno == EAGAIN { continue }
            try #require(count > 0)
            sent += count
        }
    }
}
