// Scripts/debian13.sh on machines that cannot make a Debian 13.
import TestBench
import Testing
import WakeSystem

@Suite("Building on Debian 13")
struct Debian13Tests {
    private let folder: String

    init() throws { folder = try Directory.makeTemporary(prefix: "wakebridge-debian13") }

    /// The script with all of PATH in a folder, where it can do no more than ask who you are.
    private func build(asUser user: Int) -> (status: Int32, output: String) {
        #expect(run("ln -sf \"$(command -v dirname)\" '\(folder)/dirname'").status == 0)
        put("#!/bin/sh\necho \(user)\n", at: "\(folder)/id", mode: 0o755)
        return run("PATH='\(folder)' /bin/sh Scripts/debian13.sh")
    }

    @Test("an ordinary user is told in one sentence that only root can build in a Debian 13, and the build fails")
    func ordinaryUser() {
        defer { Directory.removeTree(folder) }
        let (status, output) = build(asUser: 1000)
        #expect(status == 1)
        #expect(output == "debian13: only root can build in a Debian 13 of its own: run it as root, or with sudo\n")
    }

    @Test("where there is no apt-get, one sentence says so, and the build fails")
    func withoutApt() {
        defer { Directory.removeTree(folder) }
        let (status, output) = build(asUser: 0)
        #expect(status == 1)
        #expect(output == "debian13: there is no apt-get here to make a Debian 13 with\n")
    }
}
