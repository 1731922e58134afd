// The package's own files as the rules see them: where they lie, what they say, and what of it is code.
import TestBench
import Testing
import WakeSystem

/// The package's folder, from where this file lies.
let package = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")

struct SourceFile: CustomTestStringConvertible {
    /// Below the package's folder.
    let path: String
    let text: String
    /// The text with comments and literals blanked; lines stay where they are.
    let code: String

    init(_ path: String) throws {
        self.path = path
        text = try File.text(at: "\(package)/\(path)")
        code = SwiftText.code(of: text)
    }

    var name: String { path.split(separator: "/").last.map(String.init) ?? path }
    /// `WakeModel` of `Sources/WakeModel/Time.swift`.
    var module: String { path.split(separator: "/").dropFirst().first.map(String.init) ?? "" }
    var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }
    var testDescription: String { path }

    /// The modules it imports, whatever stands before `import`.
    var imports: [String] {
        code.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard let place = words.firstIndex(of: "import"), place < 3, place + 1 < words.count else { return nil }
            // `import struct Module.Name` imports Module.
            return words.last.flatMap { $0.split(separator: ".").first }.map(String.init)
        }
    }

    /// `path:line` of every line of the code in which `isWrong` finds something.
    func places(_ isWrong: (Substring) -> Bool) -> [String] {
        code.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            .filter { isWrong($0.element) }.map { "\(path):\($0.offset + 1)" }
    }
}

enum SourceTree {
    static let swift = read("Sources", endings: [".swift"])
    static let examples = read("Examples", endings: [".swift"])
    static let tests = read("Tests", endings: [".swift"])
    static let c = read("Sources", endings: [".c", ".h"])
    /// Everything that is committed as text, in the places where people write.
    static let everything =
        ["Sources", "Tests", "Examples", "Devices", "Packages", "docs", "Scripts", ".ci"].flatMap {
            read($0, endings: [""])
        }
        + (["Makefile", "Package.swift"] + Document.beside).compactMap { try? SourceFile($0) }

    private static func read(_ folder: String, endings: [String]) -> [SourceFile] {
        paths(below: folder).filter { path in !path.hasSuffix(".png") && endings.contains { path.hasSuffix($0) } }
            .compactMap { try? SourceFile($0) }
    }

    private static func paths(below folder: String) -> [String] {
        let names = (try? Directory.names(in: "\(package)/\(folder)")) ?? []
        return names.sorted().filter { $0 != "__pycache__" }.flatMap { name in
            let path = "\(folder)/\(name)"
            return (try? Directory.names(in: "\(package)/\(path)")) == nil ? [path] : paths(below: path)
        }
    }
}
