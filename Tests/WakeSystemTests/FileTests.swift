// Files that hold secrets, and files that were there before them.
import Glibc
import Testing

@testable import WakeSystem

@Suite("Files") struct FileTests {
    @Test("a secret is a new file for its owner alone, whatever file was there and is open")
    func replacesSecret() throws {
        let directory = try Directory.makeTemporary(prefix: "wakefile")
        defer { Directory.removeTree(directory) }
        let path = directory + "/air.btsnoop"
        try File.replace(path, with: Array("old".utf8), mode: 0o644)
        let earlier = try File.open(path, for: .read)
        let file = try File.createSecret(path)
        _ = try file.write(Array("key".utf8), from: 0)
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o600)
        #expect(try File.text(at: path) == "key")
        var seen: [UInt8] = []
        _ = try earlier.read(appendingTo: &seen, limit: 16)
        #expect(seen == Array("old".utf8))
    }

    @Test("a secret is never written through a link, nor into what is no plain file")
    func refusesLink() throws {
        let directory = try Directory.makeTemporary(prefix: "wakefile")
        defer { Directory.removeTree(directory) }
        let path = directory + "/link"
        #expect(symlink(directory + "/target", path) == 0)
        #expect(throws: SystemError.self) { _ = try File.createSecret(path) }
        #expect(throws: SystemError.self) { _ = try File.createSecret("/dev/null") }
        #expect(!File.exists(directory + "/target"))
        #expect(File.exists("/dev/null"))
    }

    @Test("a link that another user put where the new file is prepared does not lead to what is overwritten")
    func ignoresPlantedLink() throws {
        let directory = try Directory.makeTemporary(prefix: "wakefile")
        defer { Directory.removeTree(directory) }
        let (path, victim) = (directory + "/report", directory + "/victim")
        try File.replace(victim, with: Array("precious".utf8))
        #expect(symlink(victim, "\(path).new.\(getpid())") == 0)
        try File.replacePlain(path, with: Array("report".utf8))
        #expect(try File.text(at: victim) == "precious" && File.text(at: path) == "report")
        #expect(throws: SystemError.self) { try File.replacePlain(directory, with: []) }
    }

    @Test("what is no plain file is refused in the place of one, and its other end is not waited for")
    func plain() throws {
        let directory = try Directory.makeTemporary(prefix: "wakefile")
        defer { Directory.removeTree(directory) }
        try File.replace("\(directory)/file", with: Array("text".utf8))
        mkfifo("\(directory)/pipe", 0o600)
        symlink("file", "\(directory)/link")
        symlink("pipe", "\(directory)/to-pipe")
        for name in ["file", "link"] {
            #expect(try File.plainBytes(at: "\(directory)/\(name)", limit: 4) == Array("text".utf8))
        }
        #expect(throws: SystemError.self) { try File.plainBytes(at: "\(directory)/file", limit: 3) }
        for name in ["pipe", "to-pipe", "", "missing"] {
            #expect(throws: SystemError.self, "\(name)") { try File.plainBytes(at: "\(directory)/\(name)", limit: 4) }
        }
    }

    @Test("a directory that all may enter is so under a umask that would close it, with those above it")
    func createsWhateverTheUmask() throws {
        let directory = try Directory.makeTemporary(prefix: "wakefile")
        defer { Directory.removeTree(directory) }
        // Each usual umask clears a bit of this mode.
        try Directory.create("\(directory)/above/below", mode: 0o777)
        try Directory.create("\(directory)/own/below")
        for (path, mode) in [("above", 0o777), ("above/below", 0o777), ("own", 0o700), ("own/below", 0o700)] {
            var status = stat()
            #expect(stat("\(directory)/\(path)", &status) == 0 && status.st_mode & 0o7777 == UInt32(mode), "\(path)")
        }
    }
}
