// Files that are trusted and files that are not: real ones, with owners, modes, links and devices.
import Glibc
import TestBench
import Testing

@testable import WakeSystem

/// What a shell makes in an empty folder, and what is said of `file` in it; `%` is the folder.
private struct Refused: CustomTestStringConvertible {
    let script: String
    let errno: Int32
    let sentence: String
    var testDescription: String { script }

    init(_ script: String, _ errno: Int32, _ sentence: String = "") {
        (self.script, self.errno, self.sentence) = (script, errno, sentence)
    }
}

private let refused = [
    Refused("mkfifo file", EINVAL, "it is a FIFO; put a plain file there"),
    Refused("mkfifo real && ln -s real file", EINVAL, "it is a FIFO"),
    Refused("mknod file c 1 3", EINVAL, "it is a device; put a plain file there"),
    Refused("mkdir file", EISDIR),
    Refused("echo > file; chown nobody file", EPERM, "it belongs to nobody; run 'chown root %/file', or"),
    Refused("echo > file; chmod o+w file", EPERM, "every user may write to it; run 'chmod o-w %/file'"),
    Refused(
        "echo > file; chgrp daemon file; chmod g+w file", EPERM, "group 1 may write to it; run 'chmod g-w %/file'"),
    Refused("mkdir -m 757 open; echo > open/real; ln -s open/real file", EPERM, "every user may write to %/open; run"),
    Refused(
        "mkdir his; echo > his/real; chown nobody his; ln -s his/real file", EPERM,
        "%/his belongs to nobody; run 'chown root %/his', or use another place"),
    Refused(
        "mkdir his; echo > real; ln -s ../real his/link; chown nobody his; ln -s his/link file", EPERM,
        "%/his belongs to nobody"),
    Refused(
        "mkdir his; echo > real; chown nobody his; ln -s his/../real file", EPERM, "%/his belongs to nobody"),
    Refused(
        "mkdir -m 1777 all; echo > real; ln -s ../real all/link; chown -h nobody all/link; ln -s all/link file", EPERM,
        "the link %/all/link belongs to nobody; run 'chown -h root %/all/link', or"),
    Refused(
        "mkdir -m 1777 all; echo > all/real; chown nobody all/real; ln -s all/real file", EPERM,
        "%/all/real belongs to nobody"),
    Refused("chown nobody .; echo > file", EPERM, "% belongs to nobody"),
    Refused("ln -s file file", ELOOP),
    Refused("true", ENOENT),
    Refused("ln -s nowhere file", ENOENT),
    Refused("echo > real; ln -s real/below file", ENOTDIR),
    Refused("head -c 1025 /dev/zero > file", EFBIG),
]

private let trusted = [
    "echo text > file",
    "mkdir far; echo text > far/real; ln -s ./far/../far/real middle; ln -s \"$PWD/middle\" file",
    "mkdir -m 1777 all; echo text > all/file; ln -s all/file file",
    // As a umask of 002 leaves them: root's group is root's alone.
    "mkdir -m 775 own; echo text > own/real; chmod 664 own/real; ln -s own/real file",
    "mkdir -m 700 own; echo text > own/real; chmod 600 own/real; ln -s own/real file",
    "for n in $(seq 39); do ln -s $((n + 1)) $n; done; echo text > 40; ln -s 1 file",
]

@Suite("Trusted files", .enabled(if: Machine.isRoot, "to make files of other users"))
final class TrustedFileTests {
    private let folder = makeDirectory("/tmp/waketrust.XXXXXX")

    deinit { Directory.removeTree(folder) }

    private func prepare(_ script: String) throws {
        let outcome = try Child(["sh", "-c", "cd \(folder) && umask 022 && \(script)"]).finish()
        #expect(outcome.exit == 0, "\(outcome)")
    }

    @Test(
        "what another user could change, or is no plain file, is not read, and its sentence says what to do",
        arguments: refused)
    fileprivate func isRefused(_ it: Refused) throws {
        try prepare(it.script)
        do throws(SystemError) {
            _ = try TrustedFile.bytes(at: folder + "/file", limit: 1024)
            Issue.record("it was read")
        } catch {
            #expect(error.errno.code == it.errno, "\(error)")
            #expect(error.description.hasPrefix("could not read \(folder)/file: "), "\(error)")
            #expect(error.description.contains(it.sentence.replacing("%", with: folder)), "\(error)")
        }
    }

    @Test(
        "what trusted users alone can change is read, through links, sticky directories and their own groups",
        arguments: trusted)
    func isRead(script: String) throws {
        try prepare(script)
        #expect(try TrustedFile.bytes(at: folder + "/file", limit: 1024) == Array("text\n".utf8))
    }

    @Test("a list of access rights that lets another user write is seen behind the owner's own group")
    func accessList() throws {
        try prepare("echo text > file; chmod 664 file")
        let list =
            "import os, struct; os.setxattr('file', 'system.posix_acl_access', struct.pack('<I', 2) + b''.join("
            + "struct.pack('<HHI', *e) for e in [(1, 6, 2**32 - 1), (2, 6, 65534), (4, 4, 2**32 - 1), "
            + "(16, 6, 2**32 - 1), (32, 4, 2**32 - 1)]))"
        try prepare("python3 -c \"\(list)\"")
        do throws(SystemError) {
            _ = try TrustedFile.bytes(at: folder + "/file", limit: 1024)
            Issue.record("it was read")
        } catch {
            #expect(error.description.contains("access control list may write to it; run 'setfacl -b"), "\(error)")
        }
    }

    @Test("a FIFO is never opened: a writer that waits for it goes on waiting")
    func opensNothing() throws {
        try prepare("mkfifo file")
        let writer = try Child(["sh", "-c", "echo > \(folder)/file"])
        // openat(2) of x86-64 and of arm64.
        let opening = ["257", "56"]
        #expect(
            Patience.wait {
                let call = text(of: "/proc/\(writer.process)/syscall").split(separator: " ").first.map(String.init)
                return opening.contains(call ?? "")
            })
        for _ in 0..<20 {
            #expect(throws: SystemError.self) { try TrustedFile.bytes(at: folder + "/file", limit: 1024) }
        }
        #expect(!writer.isOver)
    }

    @Test("the names of a directory that another user could change are not listed")
    func directories() throws {
        try prepare("mkdir own his; touch own/a his/b; ln -s own link; chown nobody his")
        #expect(try TrustedDirectory.names(in: folder + "/link") == ["a"])
        #expect(throws: SystemError.self) { try TrustedDirectory.names(in: folder + "/his") }
        #expect { try TrustedDirectory.names(in: folder + "/own/a") } throws: { "\($0)".contains("ENOTDIR") }
    }
}
