// A Markdown page as tests see it: its fenced blocks, its links, its words in backticks.
import WakeSystem

package struct Document {
    package struct Block {
        /// What stands after the fence, such as `sh`.
        package let language: String
        package let text: String

        package var lines: [Substring] { text.split(separator: "\n") }
    }

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

    /// Targets of links to files, as seen from the package's folder.
    package var linkedPaths: [String] {
        let folder = path.split(separator: "/").dropLast().map { $0 + "/" }.joined()
        return text.split(separator: "](").dropFirst().compactMap { $0.split(separator: ")").first }
            .filter { !$0.contains("://") && !$0.hasPrefix("#") }
            .map { folder + ($0.split(separator: "#").first ?? "") }
    }

    package func block(_ language: String, with words: String) -> Block? {
        blocks.first { $0.language == language && $0.text.contains(words) }
    }
}
