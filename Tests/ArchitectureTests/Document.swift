// A Markdown page as tests see it: its fenced blocks, its links, its words in backticks.
import WakeSystem

struct Document {
    struct Block {
        /// What stands after the fence, such as `sh`.
        let language: String
        let text: String

        var lines: [Substring] { text.split(separator: "\n") }
    }

    let path: String
    let text: String
    private(set) var blocks: [Block] = []

    init(_ path: String) throws {
        self.path = path
        text = try File.text(at: "\(package)/\(path)")
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
    var linkedPaths: [String] {
        let folder = path.split(separator: "/").dropLast().map { $0 + "/" }.joined()
        return text.split(separator: "](").dropFirst().compactMap { $0.split(separator: ")").first }
            .filter { !$0.contains("://") && !$0.hasPrefix("#") }
            .map { folder + ($0.split(separator: "#").first ?? "") }
    }

    func block(_ language: String, with words: String) -> Block? {
        blocks.first { $0.language == language && $0.text.contains(words) }
    }
}
