// The page that maps the code: the functions that it names are there, and its patches apply.
import TestBench
import Testing
import WakeSystem

@Suite("The map of the code") struct CodePageTests {
    private func page() throws -> Document { try Document("docs/dev/code.md") }

    @Test("each step of an event's and an acknowledgement's way names a function that its file declares")
    func steps() throws {
        let rows = try page().text.split(separator: "\n").map {
            $0.split(separator: "|").map { $0.split(separator: "`") }
        }
        .filter { $0.count == 3 && $0[1].count == 3 && $0[2].count == 3 }
        #expect(rows.count >= 16)
        for row in rows {
            let (file, function) = (row[1][1], row[2][1])
            let text = text(of: "\(packageFolder)/\(file)")
            #expect(text.contains("func \(function)(") || text.contains("\(function)("), "\(file): \(function)")
        }
    }

    @Test("every folder of Sources has a row in the map")
    func folders() throws {
        let text = try page().text
        for folder in names(in: "\(packageFolder)/Sources") where folder.first?.lowercased() == "w" {
            #expect(text.contains("`Sources/\(folder)`"), "\(folder)")
        }
    }

    @Test("the newcomer's three patches apply to the code as it is")
    func patches() throws {
        let patches = try page().blocks.filter { $0.language == "diff" }
        #expect(patches.count == 3)
        for patch in patches {
            let path = makeDirectory("/tmp/wakebridge-patch-XXXXXX") + "/patch"
            defer { Directory.removeTree(String(path.dropLast(6))) }
            put(String(patch.text) + "\n", at: path)
            let outcome = run("git -c safe.directory='*' apply --check --recount -C1 '\(path)'")
            #expect(outcome.status == 0, "\(outcome.output)\n\(patch.text)")
        }
    }
}
