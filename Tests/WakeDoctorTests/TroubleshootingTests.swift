// The page on troubleshooting shows what the doctor says, word for word, and nothing that it does not say.
import TestBench
import Testing

@testable import WakeDoctor

@Suite("The page on troubleshooting") struct TroubleshootingTests {
    private let page = lines(of: "\(packageFolder)/docs/troubleshooting.md")

    /// The line that opens a finding: its level, and what is.
    private func opening(_ finding: Finding) -> String {
        let margin = String(repeating: " ", count: 9 - finding.level.name.count)
        return finding.level.name + margin + finding.what
    }

    @Test("every finding is shown as it is told, with what mends it right below")
    func showsEach() throws {
        var missing: Set<Finding.Code> = Set(Finding.Code.allCases)
        for one in cases {
            let finding = try #require(one.finding)
            guard let place = page.firstIndex(of: opening(finding)) else { continue }
            let below = page[(place + 1)...].prefix { $0.hasPrefix("         ") }
            let remedies = below.filter { $0.hasPrefix("         mend it: ") }.map { $0.dropFirst(18) }
            guard remedies == (one.remedy.isEmpty ? [] : [one.remedy[...]]) else { continue }
            missing.remove(one.code)
        }
        #expect(missing == [])
    }

    @Test("nothing is shown that the doctor does not say")
    func showsNothingElse() {
        let said = Set(cases.compactMap(\.finding).map(opening))
        let levels = Finding.Level.allCases.map(\.name)
        for line in page where levels.contains(where: { line.hasPrefix($0 + " ") && line.dropFirst(8).hasPrefix(" ") })
        {
            #expect(said.contains(line), "\(line)")
        }
    }

    @Test("each finding's word for scripts is in the page's table")
    func namesEach() {
        for code in Finding.Code.allCases {
            #expect(page.contains { $0.hasPrefix("| `\(code.rawValue)` |") }, "\(code.rawValue)")
        }
    }
}
