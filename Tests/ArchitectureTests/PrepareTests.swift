// Scripts/prepare.sh on machines of its own: what it installs, and what it says where it cannot.
import TestBench
import Testing
import WakeSystem

@Suite("Preparing a machine")
struct PrepareTests {
    private let folder: String

    init() throws { folder = try Directory.makeTemporary(prefix: "wakebridge-prepare") }

    /// A machine of its own in a folder that is all of PATH: everything but Swift, and an apt that knows it or not.
    private func prepare(
        _ word: String = "", swift version: String? = nil, apt candidate: String, user: Int = 0
    ) throws -> (status: Int32, output: String) {
        let path = "\(folder)/path"
        try Directory.create(path)
        for name in ["cat", "dirname", "env", "grep", "head", "mktemp", "rm", "sed", "uname"] {
            #expect(run("ln -sf \"$(command -v \(name))\" '\(path)/\(name)'").status == 0)
        }
        let swift = "#!/bin/sh\necho 'Swift version 6.0.3 (swift-6.0.3-RELEASE)'"
        let programs = [
            "id": "echo \(user)", "gcc": "echo /usr/lib/$1", "g++": "", "pkg-config": "",
            "dpkg": "[ \"${2%%.*}\" -ge \"$4\" ]",
            "apt-cache": "echo '  Candidate: \(candidate)'",
            "apt-get": """
            echo "$*" >>'\(folder)/asked'
            case $* in *swiftlang*) printf '%s\\n' "\(swift)" >'\(path)/swift'; /bin/chmod 755 '\(path)/swift' ;; esac
            """,
        ]
        for (name, body) in programs { put("#!/bin/sh\n\(body)\n", at: "\(path)/\(name)", mode: 0o755) }
        if let version { put("#!/bin/sh\necho 'Swift version \(version) (x)'\n", at: "\(path)/swift", mode: 0o755) }
        return run("PATH='\(path)' /bin/sh Scripts/prepare.sh \(word)")
    }

    @Test("on Debian 12, whose apt has no Swift, preparation says where to get it and installs nothing")
    func explains() throws {
        defer { Directory.removeTree(folder) }
        let (status, output) = try prepare(apt: "(none)")
        #expect(status == 1)
        #expect(output.contains("Swift 6.0 or newer is needed, and neither PATH nor apt has it here"), "\(output)")
        #expect(output.contains("Debian 12") && output.contains("https://download.swift.org/swiftly/linux/"))
        #expect(!text(of: "\(folder)/asked").contains("install"))
    }

    @Test("who may not install anything is told what is missing, and what root has to run")
    func ordinaryUser() throws {
        defer { Directory.removeTree(folder) }
        let (status, output) = try prepare("tests", swift: "6.0.3", apt: "(none)", user: 1000)
        #expect(status == 1 && output.contains("only root can install them:"), "\(output)")
        #expect(output.contains("run as root: apt-get install ") && output.contains(" valgrind"), "\(output)")
        #expect(!File.exists("\(folder)/asked"))
    }

    @Test("a Swift that is too old counts as none")
    func old() throws {
        defer { Directory.removeTree(folder) }
        let (status, output) = try prepare(swift: "5.10.1", apt: "(none)")
        #expect(status == 1 && output.contains("Swift 6.0 or newer is needed"), "\(output)")
    }

    @Test("where apt has Swift it is installed, and where it is there nothing is done or said")
    func ready() throws {
        defer { Directory.removeTree(folder) }
        let (status, output) = try prepare(apt: "6.0.3-2")
        // Two of the wanted files are looked for below /usr, where this machine may lack them.
        #expect(
            status == 0 && output.hasPrefix("prepare: installing ") && output.hasSuffix(" swiftlang\n"), "\(output)")
        #expect(lines(of: "\(folder)/asked").last?.hasSuffix(" swiftlang") == true)
        let again = run("PATH='\(folder)/path' /bin/sh Scripts/prepare.sh")
        #expect(again.status == 0 && !again.output.contains("swiftlang"), "\(again.output)")
        #expect(lines(of: "\(folder)/asked").count { $0.contains("swiftlang") } == 1)
    }

    @Test("what only tests run is installed for tests, and not for a demo or a build")
    func forTests() throws {
        defer { Directory.removeTree(folder) }
        let demo = try prepare(swift: "6.0.3", apt: "(none)")
        #expect(demo.status == 0 && !demo.output.contains("umockdev") && !demo.output.contains("python3"), "\(demo)")
        #expect(!demo.output.contains("valgrind") && !demo.output.contains("binutils"), "\(demo)")
        let tests = try prepare("tests", swift: "6.0.3", apt: "(none)")
        #expect(
            tests.status == 0 && tests.output.contains(" umockdev") && tests.output.contains(" python3"), "\(tests)")
        // Without them nothing counts what an event costs.
        #expect(tests.output.contains(" valgrind binutils "), "\(tests)")
    }
}
