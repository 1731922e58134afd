// The library as a package of its own: what Scripts/wakehandler.sh lays out, and the template that uses it.
import TestBench
import Testing
import WakeSystem

/// Lays the package out in a folder.
func layOutPackage(in folder: String) throws -> (exit: Int32, output: String, talk: String) {
    try Child(["\(packageFolder)/Scripts/wakehandler.sh", folder]).finish()
}

@Suite("The package of handler authors")
struct PackageTests {
    private let folder = makeDirectory("/tmp/wakebridge-package-XXXXXX")
    private var version: String { releaseVersion() ?? "" }

    @Test("it is laid out with all that it needs, and its archive is the same file each time")
    func layout() throws {
        defer { Directory.removeTree(folder) }
        let first = try layOutPackage(in: folder)
        #expect(first.exit == 0, "\(first.talk)")
        let (tree, archive) = ("\(folder)/wakehandler", "\(folder)/wakehandler-\(version).tar.gz")
        #expect(first.output == "\(tree)\n\(archive)\n")
        let (bytes, before) = (bytes(of: archive), names(in: tree))
        #expect(
            Set(before).isSuperset(of: ["Devices", "LICENSE", "Package.swift", "README.md", "Template", "VERSION"]))
        #expect(names(in: "\(tree)/Sources").count == 7 && names(in: "\(tree)/Sources").contains("WakeHandlerTesting"))
        #expect(try layOutPackage(in: folder).exit == 0)
        #expect(!bytes.isEmpty && TestBench.bytes(of: archive) == bytes && names(in: tree) == before)
    }

    @Test("its manifest has the targets, and what they depend on, as this package has them")
    func manifest() {
        let whole = Set(lines(of: "\(packageFolder)/Package.swift"))
        let targets = lines(of: "\(packageFolder)/Packages/wakehandler/Package.swift").filter {
            $0.contains(".target(")
        }
        #expect(targets.count == 7)
        for line in targets { #expect(whole.contains(line), "\(line)") }
    }

    @Test("the script says how it is used")
    func usage() throws {
        defer { Directory.removeTree(folder) }
        let outcome = try Child(["\(packageFolder)/Scripts/wakehandler.sh"]).finish()
        #expect(outcome.exit == 2 && outcome.talk == "usage: wakehandler.sh DESTINATION\n")
    }
}
