// Scripts/release.sh on toolchains of their own: the options that it links with. Builds for another processor show them, since they
// need no objects of the tests' build.
import TestBench
import Testing
import WakeSystem

@Suite("Building for speed")
struct ReleaseTests {
    private let folder: String
    /// A checkout whose path has a space.
    private var checkout: String { folder + "/check out" }

    init() throws {
        folder = try Directory.makeTemporary(prefix: "wakebridge-release")
        try Directory.create(checkout + "/Scripts")
        #expect(run("cp Scripts/release.sh Scripts/wake.order '\(checkout)/Scripts'").status == 0)
    }

    /// What a Swift is asked for that stands in a toolchain with or without lld, on a machine with such a C library.
    private func release(
        lld: Bool, glibc: String, with variables: String = "RELEASE_SCRATCH=.build/other"
    ) throws -> (status: Int32, output: String, asked: [String]) {
        let path = "\(folder)/tools/bin"
        try Directory.create(path)
        for name in ["cksum", "cp", "cut", "dirname", "head", "ln", "mkdir", "rm", "sed", "sort"] {
            #expect(run("ln -sf \"$(command -v \(name))\" '\(path)/\(name)'").status == 0)
        }
        let programs = [
            "swift": "printf '%s\\n' \"$@\" >'\(folder)/asked'", "getconf": "echo 'glibc \(glibc)'",
            "swiftc": "echo '    \"runtimeResourcePath\": \"\(folder)/tools/lib/swift\",'",
            "gcc": "echo \"${1#*=}\"",
        ]
        for (name, body) in programs { put("#!/bin/sh\n\(body)\n", at: "\(path)/\(name)", mode: 0o755) }
        try Directory.create("\(folder)/tools/lib/swift")
        if lld { put("", at: "\(path)/ld.lld", mode: 0o755) }
        let done = run("\(variables) PATH='\(path)' /bin/sh '\(checkout)/Scripts/release.sh' --product wakebridged")
        return (done.status, done.output, lines(of: "\(folder)/asked"))
    }

    private func orderFile(_ asked: [String]) -> String? {
        let option = "--symbol-ordering-file="
        return asked.first { $0.hasPrefix(option) }.map { checkout + "/" + $0.dropFirst(option.count) }
    }

    @Test("with lld functions are linked in the order of a wake, and a new order is linked again")
    func ordered() throws {
        defer { Directory.removeTree(folder) }
        let first = try release(lld: true, glibc: "2.36")
        #expect(first.status == 0 && first.asked.contains("-use-ld=lld"), "\(first)")
        let file = try #require(orderFile(first.asked))
        #expect(text(of: file) == text(of: "Scripts/wake.order"))
        #expect(first.asked.contains("--product") && first.asked.contains("wakebridged"))
        put("main\n", at: checkout + "/Scripts/wake.order")
        let other = orderFile(try release(lld: true, glibc: "2.36").asked)
        #expect(other != file)
    }

    @Test("relocations are packed only where what loads programs knows that", arguments: ["2.35", "2.36", "2.41"])
    func packed(glibc: String) throws {
        defer { Directory.removeTree(folder) }
        let asked = try release(lld: true, glibc: glibc).asked
        #expect(asked.contains("pack-relative-relocs") == (glibc != "2.35"), "\(asked)")
    }

    @Test("without lld the linker of the machine is used, and that is said")
    func plain() throws {
        defer { Directory.removeTree(folder) }
        let (status, output, asked) = try release(lld: false, glibc: "2.36")
        #expect(status == 0 && output.contains("there is no ld.lld beside swiftc"), "\(output)")
        #expect(asked.contains("--product") && !asked.contains("-use-ld=lld") && orderFile(asked) == nil, "\(asked)")
        #expect(!asked.contains("pack-relative-relocs"))
    }

    @Test("an installed program looks for libraries where the machine keeps them, not beside itself")
    func looksForLibraries() throws {
        defer { Directory.removeTree(folder) }
        let asked = try release(lld: true, glibc: "2.36").asked
        #expect(asked.contains("--disable-local-rpath"), "\(asked)")
    }

    @Test("what is built for another processor lies in a folder of its own, with that processor's libstdc++")
    func anotherProcessor() throws {
        defer { Directory.removeTree(folder) }
        put("other", at: folder + "/libother.a")
        let variables = "RELEASE_SCRATCH=.build/other RELEASE_LIBSTDCXX='\(folder)/libother.a'"
        let (status, output, asked) = try release(lld: true, glibc: "2.36", with: variables)
        #expect(status == 0, "\(output)")
        #expect(asked.contains(".build/other") && asked.contains("-L.build/other/lib"), "\(asked)")
        #expect(text(of: checkout + "/.build/other/lib/libstdc++.a") == "other")
        #expect(!File.exists(checkout + "/.build/static"))
    }
}
