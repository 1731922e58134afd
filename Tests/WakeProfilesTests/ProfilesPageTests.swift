// The keys, words and defaults of docs/reference/profile-keys.md, held to what profiles are read with.
import TestBench
import Testing
import WakeModel

@testable import WakeProfiles

@Suite("The page on profiles")
struct ProfilesPageTests {
    private let page: Document

    init() throws { page = try Document("docs/reference/profile-keys.md") }

    /// The cells of the row of a key, without backticks.
    private func row(_ key: String) -> [String] {
        let rows = page.text.split(separator: "\n").filter { $0.hasPrefix("| `") }
        let line = rows.first { $0.split(separator: "|").first?.contains("`\(key)`") == true } ?? ""
        return line.split(separator: "|").map { cell in cell.filter { $0 != "`" && $0 != " " } }
    }

    @Test("every key of an accessory's profile is explained, and nothing that is none")
    func keys() {
        let documented = Set(page.words(below: "## Accessories"))
        let keys = ProfileDocument.accessoryKeys.filter { $0 != "serial" } + ["streams"]
        let parts =
            ProfileDocument.matchKeys.filter { !["broadcast", "gives_way"].contains($0) }.map { "match.\($0)" }
            + ProfileDocument.lineKeys.map { "serial.\($0)" }
        #expect(documented == Set(keys + parts))
    }

    @Test("the defaults of an accessory's profile are those that hold")
    func defaults() {
        let plan = AccessoryPlan(node: .serial)
        let defaults = [
            "serial.baud": "\(plan.line.baud)", "serial.data_bits": "\(plan.line.dataBits)",
            "serial.parity": "\"\(plan.line.parity.rawValue)\"", "serial.stop_bits": "\(plan.line.stopBits)",
            "serial.flow": "\"\(plan.line.flow.rawValue)\"", "serial.dtr": "\"\(plan.line.dtr.rawValue)\"",
            "serial.rts": "\"\(plan.line.rts.rawValue)\"", "sharing": "\"\(plan.sharing.rawValue)\"",
            "on_suspend": "\"\(plan.onSuspend.rawValue)\"", "settle": "\"\(plan.settle.nanoseconds / 1_000_000_000)s\"",
            "replug_grace": "\"\(plan.replugGrace.nanoseconds / 1_000_000_000)s\"",
        ]
        for (key, value) in defaults { #expect(row(key).dropFirst(2).first == value, "\(key)") }
        #expect(plan.framing == .none && page.text.contains("default \(plan.frameLimit), is the longest message"))
    }

    @Test("every framing is explained with the keys that go with it, and every check")
    func words() {
        let kinds = ProfileDocument.FramingKind.allCases
        #expect(Set(page.words(below: "### Framing")) == Set(kinds.map { "\"\($0.rawValue)\"" } + ["kind"]))
        for kind in kinds {
            let keys = row("\"\(kind.rawValue)\"").dropFirst().first?.split(separator: ",").map(String.init) ?? []
            #expect(Set(keys) == Set(kind.keys), "\(kind)")
        }
        let checks = MessageCheck.allCases.map { "\"\($0.rawValue)\"" } + CheckForm.keys
        #expect(Set(page.words(below: "### Checks")) == Set(checks + ["check"]))
        for fragment in Fragment.allCases { #expect(page.text.contains("`\(fragment.rawValue)`"), "\(fragment)") }
    }

    @Test("every layout, type, key and form of the language is explained, and nothing that is none")
    func language() {
        #expect(Set(page.words(below: "### Layouts")) == Set(FieldCompiler.layoutKeys))
        let forms = TimeForm.allCases.map { "\"\($0.rawValue)\"" }
        #expect(
            Set(page.words(below: "### Fields")) == Set(FieldKind.allCases.map(\.rawValue) + FieldDocument.keys + forms)
        )
        let textKinds = TextKind.allCases.map(\.rawValue)
        #expect(Set(page.words(below: "### Texts")) == Set(FieldCompiler.textKeys + textKinds))
        #expect(Set(page.words(below: "### Rates")) == Set(FieldCompiler.rateKeys))
        #expect(Set(page.words(below: "### Questions")) == Set(AskPlan.keys))
        for name in NamedDecoder.allCases { #expect(page.text.contains("`\"\(name.rawValue)\"`"), "\(name)") }
        for service in IncludedService.allCases { #expect(page.text.contains("`\"\(service.rawValue)\"`")) }
        #expect(page.text.contains("up to \(FieldProgram.slotCount) fields"))
        #expect(
            page.text.contains("\(FieldProgram.mostElements) records at most") && page.text.contains("64 KiB at most"))
    }

    @Test("every key of a peripheral's profile is explained")
    func peripherals() {
        let documented = Set(page.words(below: "## Bluetooth peripherals"))
        let keys = ["name", "title", "mode", "ask"] + ProfileDocument.peripheralKeys
        let parts = ProfileDocument.matchKeys.filter { $0 != "properties" }.map { "match.\($0)" }
        #expect(documented == Set(keys + parts))
        for key in ProfileDocument.broadcastKeys + BytePattern.keys + AskPlan.pollKeys + ["merge", "any"] {
            #expect(
                page.text.contains("`\(key)`") || page.text.contains("`\"\(key)\"`") || page.text.contains("\(key): "),
                "\(key)")
        }
    }
}
