// Files beneath one folder: what has a place in it, and what the kernel's refusals mean for a later attempt.
import Glibc
import Testing

@testable import WakeSystem

@Suite("Files beneath one folder") struct BeneathFolderTests {
    private func withFolder(_ body: (BeneathFolder, String) throws -> Void) throws {
        let directory = try Directory.makeTemporary(prefix: "wakebeneath")
        defer { Directory.removeTree(directory) }
        try body(try BeneathFolder(directory), directory)
    }

    private func refusal(of path: String, in folder: BeneathFolder) -> Errno? {
        do throws(SystemError) {
            try folder.requireFolder(of: path)
            return nil
        } catch {
            return error.errno
        }
    }

    @Test("a file has a place in a folder that is there, and none in a missing one, in a file, or behind a link")
    func places() throws {
        try withFolder { folder, directory in
            try Directory.create("\(directory)/in", mode: 0o700)
            try File.replace("\(directory)/plain", with: [])
            #expect(symlink("/tmp", "\(directory)/out") == 0)
            for path in ["f", "in/f"] { try folder.requireFolder(of: path) }
            for (path, code) in [("absent/f", ENOENT), ("plain/f", ENOTDIR), ("out/f", ELOOP), ("../f", EXDEV)] {
                let errno = refusal(of: path, in: folder)
                #expect(errno?.code == code && errno?.isOfPath == true, "\(path)")
            }
        }
    }

    @Test("all bytes are written where they belong; a full disk is told as one")
    func writesAll() throws {
        try withFolder { folder, _ in
            let file = try folder.openForWriting("f")
            try file.write(all: Array("world".utf8), at: 6, of: "f")
            try file.write(all: Array("hello ".utf8), at: 0, of: "f")
            #expect(try folder.bytes(of: "f", limit: 64) == Array("hello world".utf8))
        }
        let full = try File.open("/dev/full", for: .write)
        do throws(SystemError) {
            try full.write(all: [1], at: 0, of: "it")
            Issue.record("a full disk took a byte")
        } catch {
            #expect(error.errno.isLackOfSpace && !error.errno.isOfPath)
        }
    }

    @Test("what cannot be replaced stays, and nothing is left beside it")
    func leavesNothing() throws {
        try withFolder { folder, directory in
            try Directory.create("\(directory)/taken", mode: 0o700)
            #expect(throws: SystemError.self) { try folder.replace("taken", with: [1]) }
            #expect(try folder.names() == ["taken"])
        }
    }

    @Test(
        "a lack that may pass says nothing about the path",
        arguments: [EMFILE, ENFILE, ENOMEM, EAGAIN, EINTR, EIO, EROFS])
    func passes(code: Int32) {
        #expect(!Errno(code: code).isOfPath && !Errno(code: code).isLackOfSpace)
    }
}
