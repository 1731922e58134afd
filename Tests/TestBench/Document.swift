// A Markdown page as tests see it: its fenced blocks, its links, its words in backticks.
import WakeSystem

package struct Document {
    package struct Block {
        /// What stands after the fence, such as `sh`.
        package let language: String
        package let text: String

        package var lines: [Substring] { text.split(separator: "\n") }
    }

    /// The README and the pages that lie beside it.
    package static let beside = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
    /// These and every page below docs, as paths from the package's folder.
    package static let pages = beside + pages(below: "docs")

    package let path: String
    package let text: String
    package private(set) var blocks: [Block] = []

    package init(_ path: String) throws {
        self.path = path
        text = try File.text(at: "\(packageFolder)/\(path)")
        var open: (language: String, lines: [Substring])?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                if let block = open {
                    blocks.append(Block(language: block.language, text: block.lines.joined(separator: "\n")))
                }
                open = open == nil ? (String(line.dropFirst(3)), []) : nil
            } else {
                open?.lines.append(line)
            }
        }
    }

    private static func pages(below folder: String) -> [String] {
        names(in: "\(packageFolder)/\(folder)").sorted().flatMap { name -> [String] in
            let path = "\(folder)/\(name)"
            return name.hasSuffix(".md") ? [path] : pages(below: path)
        }
    }

    /// Targets of links to files, as seen from the package's folder.
    package var linkedPaths: [String] {
        let folder = path.split(separator: "/").dropLast().map { $0 + "/" }.joined()
        return text.split(separator: "](").dropFirst().compactMap { $0.split(separator: ")").first }
            .filter { !$0.contains("://") && !$0.hasPrefix("#") }
            .map { folder + ($0.split(separator: "#").first ?? "") }
    }

    /// Links to headings: the page, and what stands after the `#`.
    package var linkedPlaces: [(page: String, anchor: String)] {
        let folder = path.split(separator: "/").dropLast().map { $0 + "/" }.joined()
        return text.split(separator: "](").dropFirst().compactMap { rest in
            let parts = rest.prefix { $0 != ")" }.split(separator: "#", omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].isEmpty || parts[0].hasSuffix(".md"), !parts[0].contains("://") else {
                return nil
            }
            return (page: parts[0].isEmpty ? path : folder + parts[0], anchor: String(parts[1]))
        }
    }

    /// What a link may name after a `#`: the headings, as GitHub writes them there.
    package var anchors: Set<String> {
        let headings = text.split(separator: "\n").filter { $0.hasPrefix("#") }
        return Set(
            headings.map { heading in
                let words = heading.drop { $0 == "#" }.drop { $0 == " " }.lowercased()
                return words.filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) }.replacing(" ", with: "-")
            })
    }

    /// The words in backticks in the first cells of the tables below a heading, up to the next heading.
    package func words(below heading: String) -> [String] {
        let lines = text.split(separator: "\n")
        guard let start = lines.firstIndex(where: { $0 == heading }) else { return [] }
        let rows = lines[(start + 1)...].prefix { !$0.hasPrefix("#") }.filter { $0.hasPrefix("| `") }
        return rows.flatMap { row -> [String] in
            let cell = row.split(separator: "|").first ?? ""
            let pieces = cell.split(separator: "`", omittingEmptySubsequences: false)
            return pieces.enumerated().filter { $0.offset % 2 == 1 }.map { String($0.element) }
        }
    }

    package func block(_ language: String, with words: String) -> Block? {
        blocks.first { $0.language == language && $0.text.contains(words) }
    }
}
