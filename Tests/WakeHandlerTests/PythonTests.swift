// The Python module of handler authors: its own tests, and what it says of itself.
import TestBench
import Testing
import WakeSystem

@Suite("The Python module of handler authors")
struct PythonTests {
    private let folder = "\(packageFolder)/Packages/python"

    private func python(_ words: String...) throws -> (exit: Int32, output: String, talk: String) {
        // What it compiles would lie in the checkout otherwise.
        try Child(["/bin/sh", "-c", "cd \"$0\" && exec python3 -B \"$@\"", folder] + words).finish()
    }

    @Test("its own tests pass")
    func ownTests() throws {
        let outcome = try python("-m", "unittest", "test_wakehandler")
        #expect(outcome.exit == 0 && outcome.talk.contains("\nOK\n"), "\(outcome.talk)")
    }

    @Test("it has the version of this package, and its manifest names no dependency")
    func version() throws {
        let manifest = lines(of: "\(folder)/pyproject.toml")
        let version = try #require(releaseVersion())
        #expect(manifest.contains("version = \"\(version)\""))
        #expect(!manifest.contains { $0.hasPrefix("dependencies") })
    }

    @Test("it reads with the grammar of Python 3.9, and every public name has a docstring")
    func isDocumented() throws {
        let program = """
            import ast
            tree = ast.parse(open("wakehandler.py").read(), feature_version=(3, 9))
            named = [node for node in ast.walk(tree) if isinstance(node, (ast.ClassDef, ast.FunctionDef))]
            print([node.name for node in named if node.name[0] != "_" and not ast.get_docstring(node)])
            """
        #expect(try python("-c", program).output == "[]\n")
    }
}

/// As the scripts read it.
func releaseVersion() -> String? {
    let outcome = try? Child(["\(packageFolder)/Scripts/version.sh"]).finish()
    return outcome?.output.split(separator: "\n").first.map(String.init)
}
