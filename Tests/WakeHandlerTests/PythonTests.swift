// The Python module of handler authors: its own tests, and what it says of itself.
import TestBench
import Testing
import WakeSystem

@Suite("The Python module of handler authors")
struct PythonTests {
    private let folder = "\(packageFolder)/Packages/python"
    private static let types = PreparedPart("types")

    private func python(_ words: String...) throws -> (exit: Int32, output: String, talk: String) {
        // What it compiles would lie in the checkout otherwise.
        let program = "PATH='\(Self.types.folder)/venv/bin':$PATH; cd \"$0\" && exec python3 -B \"$@\""
        return try Child(["/bin/sh", "-c", program, folder] + words).finish()
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

    @Test(
        "a type checker accepts it and a program with it in the strictest mode, and refuses a wrong word",
        .enabled(unless: types.hindrance(without: "\(types.folder)/venv/bin/mypy")))
    func isTyped() throws {
        let outcome = try python("-m", "unittest", "test_types")
        #expect(outcome.exit == 0 && outcome.talk.contains("\nOK\n"), "\(outcome.talk)")
    }

    @Test("it reads with the grammar of Python 3.9, and every public name has a docstring")
    func isDocumented() throws {
        let program = """
            import ast, glob
            trees = [ast.parse(open(path).read(), feature_version=(3, 9)) for path in glob.glob("wakehandler/*.py")]
            named = [node for tree in trees for node in ast.walk(tree) if isinstance(node, (ast.ClassDef, ast.FunctionDef))]
            inner = ("emit", "cancel_all")
            print([node.name for node in named
                   if node.name[0] != "_" and node.name not in inner and not ast.get_docstring(node)
                   and node.name not in ("address", "given", "without_prefix", "pending_in", "is_ready", "time_of", "time_if_any")])
            """
        #expect(try python("-c", program).output == "[]\n")
    }

    @Test("its wheel is built without a network, has its types, and is imported from where it is unpacked")
    func wheel() throws {
        let folder = makeDirectory("/tmp/wakebridge-wheel-XXXXXX")
        defer { Directory.removeTree(folder) }
        let built = try Child(["\(packageFolder)/Scripts/wheel.py", folder]).finish()
        let wheel = "\(folder)/wakehandler-\(releaseVersion() ?? "")-py3-none-any.whl"
        #expect(built.exit == 0 && built.output == "\(wheel)\n", "\(built)")
        let program =
            "import wakehandler, zipfile; print(wakehandler.__file__); print(*zipfile.ZipFile('\(wheel)').namelist())"
        let used = try Child(["env", "-C", "/", "PYTHONPATH=\(wheel)", "python3", "-B", "-c", program]).finish()
        #expect(used.output.hasPrefix("\(wheel)/wakehandler/__init__.py\n"), "\(used)")
        #expect(used.output.contains("wakehandler/py.typed") && !used.output.contains("test_"))
        #expect(File.exists("\(packageFolder)/Packages/python/build") == false)
    }
}

/// As the scripts read it.
func releaseVersion() -> String? {
    let outcome = try? Child(["\(packageFolder)/Scripts/version.sh"]).finish()
    return outcome?.output.split(separator: "\n").first.map(String.init)
}
