// How the pages for users are written: no word that hides who acts, no long sentence, no full table cell.
// That their links lead somewhere is held by ReadmeTests.
import TestBench
import Testing

@Suite("The prose of the pages for users") struct ProseTests {
    private static let pages = Document.pages.filter { !$0.hasPrefix("docs/dev/") }
    private static let forbidden: Set<String> = ["nobody", "whoever", "somebody", "whom"]
    private static let (longestSentence, fullestCell) = (30, 12)

    /// Without the targets of links, and with one word in place of each piece of code.
    private func plain(_ text: some StringProtocol) -> String {
        let pieces = text.split(separator: "`", omittingEmptySubsequences: false)
        let prose = pieces.enumerated().map { $0.offset % 2 == 0 ? String($0.element) : "code" }.joined()
        let links = prose.split(separator: "](", omittingEmptySubsequences: false)
        return links.dropFirst().reduce(links.first.map(String.init) ?? "") { text, rest in
            text + "]" + rest.drop { $0 != ")" }.dropFirst()
        }
    }

    private func words(_ text: some StringProtocol) -> [Substring] {
        plain(text).split(separator: " ").filter { $0.contains { $0.isLetter || $0.isNumber } }
    }

    /// What no fence holds.
    private func lines(of page: String) throws -> [Substring] {
        var isFenced = false
        return try Document(page).text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            if line.hasPrefix("```") { isFenced.toggle() }
            return isFenced || line.hasPrefix("```") ? "" : line
        }
    }

    /// The text of each paragraph, heading and item of a list; no table.
    private func paragraphs(of page: String) throws -> [String] {
        var paragraphs: [String] = [""]
        for line in try lines(of: page) {
            let text = line.drop { $0 == " " }
            let marker = text.prefix { $0.isNumber || "#-*.".contains($0) }
            let begins = !marker.isEmpty && text.dropFirst(marker.count).first == " "
            if begins || text.isEmpty || text.hasPrefix("|") { paragraphs.append("") }
            if text.isEmpty || text.hasPrefix("|") || text.hasPrefix("<!--") { continue }
            paragraphs[paragraphs.count - 1] += " " + (begins ? text.dropFirst(marker.count) : text)
            if marker.hasPrefix("#") { paragraphs.append("") }
        }
        return paragraphs
    }

    private func sentences(of paragraph: String) -> [[Substring]] {
        let words = plain(paragraph).split(separator: " ")
        var sentences: [[Substring]] = [[]]
        for word in words {
            sentences[sentences.count - 1].append(word)
            let bare = word.reversed().drop { "*)]\"'".contains($0) }
            if let last = bare.first, ".!?".contains(last) { sentences.append([]) }
        }
        return sentences.map { $0.filter { $0.contains { $0.isLetter || $0.isNumber } } }
    }

    @Test("the rules see sentences, links, code and cells as a reader does")
    func seesText() {
        let text = "If `a b c` fails, see [the page](x/y.md#z). Then **stop.** It is 5.66 (or less)."
        #expect(sentences(of: text).map(\.count) == [6, 2, 5, 0])
        #expect(words("[one](a/b-c.md) `x y` - two") == ["[one]", "code", "two"])
    }

    @Test("no page says nobody, whoever, somebody or whom", arguments: pages)
    func forbiddenWords(page: String) throws {
        for line in try lines(of: page) {
            let found = plain(line).lowercased().split { !$0.isLetter }.filter { Self.forbidden.contains(String($0)) }
            #expect(found.isEmpty, "\(page): \(line)")
        }
    }

    @Test("no sentence has more than 30 words", arguments: pages)
    func longSentences(page: String) throws {
        for sentence in try paragraphs(of: page).flatMap(sentences) where sentence.count > Self.longestSentence {
            Issue.record("\(page): \(sentence.count) words: \(sentence.joined(separator: " "))")
        }
    }

    @Test("no cell of a table has more than 12 words", arguments: pages)
    func fullCells(page: String) throws {
        for row in try lines(of: page) where row.hasPrefix("|") {
            for cell in row.replacing("\\|", with: "/").split(separator: "|") {
                #expect(words(cell).count <= Self.fullestCell, "\(page): \(cell)")
            }
        }
    }
}
