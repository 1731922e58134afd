// Scripts/test-deb.sh with a package and Debians that are made up: what it does after a run that failed.
import TestBench
import Testing
import WakeSystem

@Suite("Trying the package in a fresh Debian")
struct PackageTrialTests {
    private let folder: String
    private var said: String { "\(folder)/said" }

    init() throws {
        folder = try Directory.makeTemporary(prefix: "wakebridge-trial")
        try Directory.create("\(folder)/bin")
        #expect(run("cp -R Scripts '\(folder)'").status == 0)
        put("#!/bin/sh\ntouch made.deb\necho made.deb\n", at: "\(folder)/Scripts/deb.sh", mode: 0o755)
        put("#!/bin/sh\necho 1.2.3\n", at: "\(folder)/Scripts/version.sh", mode: 0o755)
        let programs = [
            "id": "echo 0", "mount": "", "apt-get": "", "apt-config": "",
            "unshare": "while [ \"$1\" != Scripts/test-deb.sh ]; do shift; done; exec \"$@\"",
            // It fails halfway where it is told to.
            "mmdebstrap": """
            for word; do case $word in bookworm | trixie) echo "make $word" >>'\(said)' ;; /*) root=$word ;; esac; done
            mkdir -p "$root/mnt" "$root/etc/ssl/certs"
            [ ! -e '\(folder)/fails' ]
            """,
            // Says whatever the script waits for.
            "chroot": """
            for word; do last=$word; done
            echo "in ${1##*/}: $last" >>'\(said)'
            cat Scripts/test-deb.sh
            echo wakebridge 1.2.3, wakebridged 1.2.3
            """,
        ]
        for (name, body) in programs { put("#!/bin/sh\n\(body)\n", at: "\(folder)/bin/\(name)", mode: 0o755) }
    }

    private func trial() -> (status: Int32, output: String, steps: [String]) {
        put("", at: said)
        let (status, output) = run("PATH='\(folder)/bin':\"$PATH\" '\(folder)/Scripts/test-deb.sh'")
        return (status, output, lines(of: said))
    }

    @Test("a Debian whose making failed is made again, and one that was made whole is not")
    func makesAgain() {
        defer { Directory.removeTree(folder) }
        put("", at: "\(folder)/fails")
        let failed = trial()
        #expect(failed.status == 1 && failed.steps == ["make bookworm"], "\(failed)")
        #expect(run("rm '\(folder)/fails'").status == 0)
        let (status, output, steps) = trial()
        #expect(status == 0 && output.hasSuffix("PASS: made.deb serves Debian 12 and 13\n"), "\(output)")
        #expect(steps.filter { $0.hasPrefix("make ") } == ["make bookworm", "make trixie"])
        #expect(!trial().steps.contains { $0.hasPrefix("make ") })
    }

    @Test("what a failed run left of the package is purged before the package is installed")
    func purgesFirst() throws {
        defer { Directory.removeTree(folder) }
        let (status, output, steps) = trial()
        #expect(status == 0, "\(output)")
        for suite in ["bookworm", "trixie"] {
            let inside = steps.filter { $0.hasPrefix("in \(suite): ") }
            let install = try #require(inside.firstIndex { $0.contains("apt-get -qq install") })
            #expect(inside[..<install].contains { $0.contains("--purge") && $0.contains("wakebridge") }, "\(inside)")
        }
    }
}
