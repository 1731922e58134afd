// udev-rules as people run it: which profiles it takes, what it says of wrong ones, and its JSON.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("The udev-rules verb") final class UdevRulesVerbTests {
    private let folder: String

    init() throws {
        folder = try Directory.makeTemporary(prefix: "wakerules")
        try profile("uno", #"{ ID_VENDOR_ID: "2341" }"#)
        try profile("gps", #"{ ID_VENDOR_ID: "1546" }"#)
        try profile("strap", nil)
    }

    deinit { Directory.removeTree(folder) }

    private func profile(_ name: String, _ properties: String?) throws {
        let (mode, match) =
            properties.map { ("external-accessory", "{ properties: \($0) }") }
            ?? ("bluetooth-central", #"{ services: ["180d"] }"#)
        let node = properties == nil ? "" : ", node: \"serial\""
        try Directory.create("\(folder)/\(name)", mode: 0o755)
        put(
            "{ name: \"\(name)\", title: \"Thing\", mode: \"\(mode)\", match: \(match)\(node) }",
            at: "\(folder)/\(name)/profile.json5")
    }

    private func run(_ words: String...) throws -> (exit: Int32, output: String, talk: String) {
        try Child(["env", "WAKEBRIDGE_DEVICES=\(folder)", Built.tool, "udev-rules"] + words).finish()
    }

    @Test("the rules of all accessories are printed, of none else, and of those alone that are named")
    func prints() throws {
        let all = try run()
        #expect(all.exit == 0 && all.talk == "")
        #expect(all.output.contains("\n# uno: Thing") && all.output.contains("\n# gps: Thing"))
        #expect(!all.output.contains("strap") && all.output.contains("GROUP=\"wakebridge\", MODE=\"0660\""))
        let one = try run("-p", "gps", "--group", "dialout")
        #expect(one.output.contains("\n# gps: Thing") && !one.output.contains("uno"))
        #expect(one.output.contains("GROUP=\"dialout\", MODE=\"0660\""))
        #expect(try run("-p", "gps", "-p", "uno").output == all.output)
    }

    @Test("--config names the directory whose own profiles need rules")
    func ownDirectory() throws {
        let configuration = folder + "/etc"
        try Directory.create(configuration + "/Devices/mine", mode: 0o755)
        let text =
            #"{ name: "mine", title: "Own", mode: "external-accessory", match: { properties: { ID_MODEL: "m" } }, node: "serial" }"#
        put(text, at: configuration + "/Devices/mine/profile.json5")
        let rules = try run("--config", configuration)
        #expect(rules.exit == 0 && rules.output.contains("\n# mine: Own"), "\(rules)")
        #expect(try !run().output.contains("# mine"))
    }

    @Test("a profile that is not known, or is no accessory's, is exit 5 with the nearest name, and nothing is printed")
    func unknown() throws {
        let missing = try run("--profile", "unno")
        #expect(missing.exit == 5 && missing.output == "")
        #expect(missing.talk.contains("there is no profile of an accessory named 'unno'. Did you mean 'uno'?"))
        #expect(try run("--profile", "strap").exit == 5)
    }

    @Test("what no rule can say is exit 1 with its profile, and nothing is printed")
    func unsayable() throws {
        try profile("bad", #"{ ID_MODEL: "a|b" }"#)
        let bad = try run()
        #expect(bad.exit == 1 && bad.output == "")
        #expect(bad.talk.contains("cannot make udev rules: the profile bad: match.properties.ID_MODEL is \"a|b\""))
        #expect(try run("-p", "uno").exit == 0)
        let group = try run("-p", "uno", "-g", "a\"b")
        #expect(group.exit == 1 && group.talk.contains("cannot be the name of a group"))
    }

    @Test("a profile that cannot be read is told, and the others have their rules")
    func warns() throws {
        put("{ nmae: 1 }", at: "\(folder)/gps/profile.json5")
        let outcome = try run()
        #expect(outcome.exit == 0 && outcome.talk.hasPrefix("warning: \(folder)/gps/profile.json5"))
        #expect(outcome.output.contains("\n# uno: Thing") && !outcome.output.contains("gps"))
    }

    @Test("as JSON there are the rules, the group and the profiles")
    func json() throws {
        let answer = try JSONValue(parsing: Array(try run("--json").output.utf8)[...])
        #expect(answer["group"]?.string == "wakebridge")
        #expect(answer["profiles"]?.array?.compactMap(\.string) == ["gps", "uno"])
        #expect(try answer["rules"]?.string == (run().output))
    }

    @Test("the file against brltty is the shipped one, and has no other options")
    func braille() throws {
        let outcome = try run("--braille")
        #expect(outcome.exit == 0 && outcome.output == text(of: "\(packageFolder)/udev/91-wakebridge-braille.rules"))
        let wrong = try run("--braille", "--json")
        #expect(wrong.exit == 2 && wrong.output == "" && wrong.talk.contains("--braille goes without --json"))
    }
}
