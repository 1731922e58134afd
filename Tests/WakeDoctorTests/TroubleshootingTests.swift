// The page of fixes shows what the doctor says, word for word, under its code, and nothing that it does not say.
import TestBench
import Testing

@testable import WakeDoctor

@Suite("The page of fixes") struct TroubleshootingTests {
    private let page = lines(of: "\(packageFolder)/docs/how-to/fix.md")
    private let beside = lines(of: "\(packageFolder)/docs/how-to/share-an-adapter.md")

    private static let margin = String(repeating: " ", count: 9)

    /// A finding's lines: its level and what is, why it matters, how to fix it.
    private func told(_ finding: Finding) -> [String] {
        let level = finding.level.severity + Self.margin.dropFirst(finding.level.severity.count)
        let remedy: String? =
            switch finding.remedy {
            case .run(let text)?, .act(let text)?: "fix: " + text
            case nil: nil
            }
        let more = [finding.why, remedy ?? ""].filter { !$0.isEmpty }
        return [level + finding.what] + more.map { Self.margin + $0 }
    }

    /// The lines of each finding on the page.
    private var shown: [[String]] { findings(in: page) + findings(in: beside) }

    private func findings(in page: [String]) -> [[String]] {
        let levels = Finding.Level.allCases.map { $0.severity + Self.margin.dropFirst($0.severity.count) }
        return page.indices.filter { index in levels.contains { page[index].hasPrefix($0) } }.map { index in
            [page[index]] + page[(index + 1)...].prefix { $0.hasPrefix(Self.margin) }
        }
    }

    @Test("every kind of finding is shown")
    func showsEach() {
        let shown = Set(shown)
        let codes = cases.filter { $0.finding.map { shown.contains(told($0)) } ?? false }.map(\.code)
        #expect(Set(Finding.Code.allCases).subtracting(codes) == [])
    }

    @Test("what is shown is what the doctor says, word for word, with why and how to fix it")
    func showsNothingElse() {
        let said = Set(cases.compactMap(\.finding).map(told))
        #expect(shown.count >= Finding.Code.allCases.count)
        for block in shown { #expect(said.contains(block), "\(block.joined(separator: "\n"))") }
    }

    @Test("each finding's code is a heading of the page, so that a link can lead to it")
    func namesEach() {
        for code in Finding.Code.allCases { #expect(page.contains("### `\(code.rawValue)`"), "\(code.rawValue)") }
    }
}
