// The manifests of the examples and of the pages, against 'wakebridge check', with the programs that they name beside them.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

/// A manifest that a page or an example shows, and where it begins there.
private struct ShownManifest {
    let place: String
    let firstLine: Int
    let text: String

    /// Fences within lists are indented.
    static var ofPages: [ShownManifest] {
        Document.pages.flatMap { page -> [ShownManifest] in
            var shown: [ShownManifest] = []
            var open: (first: Int, lines: [Substring])?
            let lines = TestBench.text(of: "\(packageFolder)/\(page)").split(
                separator: "\n", omittingEmptySubsequences: false)
            for (index, line) in lines.enumerated() {
                let fence = line.drop { $0 == " " }
                guard fence.hasPrefix("```") else {
                    open?.lines.append(line)
                    continue
                }
                if let block = open, block.lines.contains(where: { $0.contains("exec:") }) {
                    let text = block.lines.joined(separator: "\n")
                    shown.append(ShownManifest(place: page, firstLine: block.first, text: text))
                }
                open = fence == "```json5" ? (first: index + 2, lines: []) : nil
            }
            return shown
        }
    }

    static var ofExamples: [ShownManifest] {
        names(in: "\(packageFolder)/Examples/handlers").sorted().filter { $0.hasSuffix(".json5") }.map { name in
            let path = "Examples/handlers/\(name)"
            return ShownManifest(place: path, firstLine: 1, text: TestBench.text(of: "\(packageFolder)/\(path)"))
        }
    }
}

@Suite("Manifests that are shown") final class ShownManifestTests {
    private let folder = makeDirectory("/tmp/wakemanifests.XXXXXX")

    init() { chmod(folder, 0o755) }

    deinit { Directory.removeTree(folder) }

    /// The output of check for each, with the place and the line in the page or the example.
    private func faults(of shown: [(manifest: ShownManifest, path: String)]) throws -> [String] {
        let places = ["env", "WAKEBRIDGE_SOCKET=/nonexistent", "XDG_CONFIG_HOME=\(folder)/config"]
        let checked = try Child(places + [Built.tool, "check", "--json"] + shown.map(\.path)).finish()
        let files = try JSONValue(parsing: Array(checked.output.utf8))["files"]?.array ?? []
        #expect(files.count == shown.count, "\(checked.talk)")
        return zip(shown, files).flatMap { shown, file in
            (file["faults"]?.array ?? []).map { fault in
                let line = shown.manifest.firstLine - 1 + Int(fault["line"]?.integer ?? 1)
                return "\(shown.manifest.place):\(line): \(fault["fault"]?.string ?? "")"
            }
        }
    }

    @Test("every example's manifest runs where it lies: check finds no fault once the programs in Swift are built")
    func examples() throws {
        let examples = "\(packageFolder)/Examples/handlers"
        for name in names(in: examples) where (try? Directory.names(in: "\(examples)/\(name)")) == nil {
            let mode: mode_t = access("\(examples)/\(name)", X_OK) == 0 ? 0o755 : 0o644
            put(bytes(of: "\(examples)/\(name)"), at: "\(folder)/\(name)", mode: mode)
        }
        let shown = ShownManifest.ofExamples
        #expect(shown.count >= 21)
        for manifest in shown {
            guard let program = manifest.text.firstMatch(of: /"\.\/(Example[A-Za-z]+)"/)?.1 else { continue }
            put(bytes(of: "\(Built.folder)/\(program)"), at: "\(folder)/\(program)", mode: 0o755)
        }
        let files = shown.map { (manifest: $0, path: "\(folder)/\($0.place.split(separator: "/").last ?? "")") }
        for fault in try faults(of: files) { Issue.record("\(fault)") }
    }

    /// A page's program is where the page puts it: below /opt, or beside the manifest.
    private func placed(_ manifest: ShownManifest, in place: String) throws -> String {
        try Directory.create(place, mode: 0o755)
        let user = Machine.isRoot ? "" : "user: \"auto\","
        let text = manifest.text.replacing("\"/opt/", with: "\"\(place)/opt/").replacing(user, with: "")
        for program in text.matches(of: /"(\.\/[^"]+|\/tmp\/[^"]+\/opt\/[^"]+)"/).map(\.1) {
            let path = program.hasPrefix("./") ? "\(place)/\(program.dropFirst(2))" : String(program)
            try Directory.create(File.parent(of: path), mode: 0o755)
            put("#!/bin/sh\n", at: path, mode: 0o755)
        }
        put(text, at: "\(place)/shown.json5")
        return "\(place)/shown.json5"
    }

    @Test("every manifest that a page shows passes check as it stands, or with the profile that the same page shows")
    func pages() throws {
        let shown = ShownManifest.ofPages
        #expect(shown.count >= 25)
        let files = try shown.enumerated().map { number, manifest in
            (manifest: manifest, path: try placed(manifest, in: "\(folder)/\(number)"))
        }
        for fault in try faults(of: files) where !isOfOwnProfile(fault) { Issue.record("\(fault)") }
    }

    /// The page describes how to write the profile that its manifest watches.
    private func isOfOwnProfile(_ fault: String) -> Bool {
        guard let name = fault.firstMatch(of: /profile is "([^"]+)", which is no known profile/)?.1,
            let page = fault.split(separator: ":").first
        else { return false }
        let text = text(of: "\(packageFolder)/\(page)")
        return text.contains("name: \"\(name)\"") && text.contains("match:")
    }
}
