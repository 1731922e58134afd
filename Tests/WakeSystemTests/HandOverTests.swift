// What a former user owned in a directory comes to its new user, and nothing else does.
import Glibc
import TestBench
import Testing

@testable import WakeSystem

@Suite("Handing a directory over to another user", .enabled(if: geteuid() == 0, "only root can give files away"))
struct HandOverTests {
    private let folder = makeDirectory("/tmp/wakehandover.XXXXXX")
    private let former: UInt32 = 61_500
    private let heir = Account(unlisted: 61_501, called: "wb-heir", home: "/nonexistent")

    private func make(_ name: String, of user: UInt32) {
        put("text", at: "\(folder)/\(name)")
        own(name, user)
    }

    private func own(_ name: String, _ user: UInt32) { #expect(lchown("\(folder)/\(name)", user, user) == 0) }

    private func owner(_ name: String) -> UInt32? { File.owner(of: "\(folder)/\(name)") }

    @Test("files, folders and links of the former user are given, and no link is followed")
    func givesAll() throws {
        defer { Directory.removeTree(folder) }
        for name in ["/state", "/state/deep", "/state/deep/deeper"] { try Directory.create(folder + name) }
        for name in ["state", "state/deep", "state/deep/deeper"] { own(name, former) }
        make("state/deep/deeper/file", of: former)
        make("outside", of: former)
        try Directory.create(folder + "/elsewhere")
        make("elsewhere/file", of: former)
        symlink("\(folder)/outside", "\(folder)/state/link")
        symlink("\(folder)/elsewhere", "\(folder)/state/way")
        for name in ["state/link", "state/way"] { own(name, former) }

        let outcome = try HandOver(of: folder + "/state", from: former, to: heir).perform().get()
        #expect(outcome.given == 5 && outcome.left == 0, "\(outcome)")
        for name in ["state/deep", "state/deep/deeper", "state/deep/deeper/file", "state/link", "state/way"] {
            #expect(owner(name) == heir.user, "\(name)")
        }
        #expect(owner("outside") == former && owner("elsewhere/file") == former)
        #expect(owner("state") == former, "the record of whose the rest is")
    }

    @Test("a hard link to a file of root stays root's, and so does what a third user owns")
    func leavesOthers() throws {
        defer { Directory.removeTree(folder) }
        try Directory.create(folder + "/state")
        own("state", former)
        make("secret", of: 0)
        #expect(link("\(folder)/secret", "\(folder)/state/planted") == 0)
        make("state/third", of: 61_502)
        make("state/own", of: former)
        let outcome = try HandOver(of: folder + "/state", from: former, to: heir).perform().get()
        #expect(outcome.given == 1)
        #expect(owner("secret") == 0 && owner("state/third") == 61_502 && owner("state/own") == heir.user)
    }

    @Test("another file system mounted below is not entered")
    func staysOnItsFileSystem() throws {
        defer { Directory.removeTree(folder) }
        try Directory.create(folder + "/state/mounted")
        guard mount("none", "\(folder)/state/mounted", "tmpfs", 0, nil) == 0 else { return }
        defer { umount("\(folder)/state/mounted") }
        make("state/mounted/file", of: former)
        own("state/mounted", former)
        #expect(try HandOver(of: folder + "/state", from: former, to: heir).perform().get().given == 0)
        #expect(owner("state/mounted") == former && owner("state/mounted/file") == former)
    }

    @Test("a tree deeper or larger than can be meant is given as far as that, and the rest is counted")
    func isBounded() throws {
        defer { Directory.removeTree(folder) }
        try Directory.create(folder + "/state/1/2/3")
        for name in ["state/1", "state/1/2", "state/1/2/3"] { own(name, former) }
        for number in 0..<5 { make("state/1/2/file\(number)", of: former) }
        let shallow = try HandOver(of: folder + "/state", from: former, to: heir, depthLimit: 1).perform().get()
        #expect(shallow == .init(given: 2, left: 1))
        #expect(owner("state/1/2") == heir.user && owner("state/1/2/3") == former)
        let small = try HandOver(of: folder + "/state", from: former, to: heir, entryLimit: 4).perform().get()
        #expect(small.given == 2 && small.left == 1, "\(small)")
    }
}
