// Looks at paths that others chose: the rights in use, the files that are opened, and the watches on the way.
import Glibc
import TestBench
import Testing

@testable import WakeSystem

@Suite("Looks at paths")
struct PathWatchTests {
    private let directory = makeDirectory("/tmp/wakebridge-paths-XXXXXX")
    private let watch: PathWatch

    init() throws { watch = try PathWatch(seesWrites: false) }

    private func isReadable(_ path: String) -> Bool { watch.look(at: path).isReadable }

    private func isReadable(_ path: String, by account: Account) throws -> Bool {
        let findings = try #require(try watch.beginLook(at: [path], as: account).removeResult(within: .seconds(60)))
        try #require(findings.map(\.path) == [path])
        return findings[0].isReadable
    }

    /// The number of watches for a path, without those that lead to the directory.
    private func watched(_ path: String) -> Int {
        watch.look(at: path).watches.subtracting(watch.look(at: directory).watches).count
    }

    @Test(
        "what its mode closes to all cannot be read, not even by root; a link is followed, and one to nowhere is nothing"
    )
    func modes() throws {
        defer { Directory.removeTree(directory) }
        put("x", at: "\(directory)/file", mode: 0o600)
        mkdir("\(directory)/listed", 0o444)
        symlink("file", "\(directory)/link")
        symlink("\(directory)/link", "\(directory)/longer")
        symlink("nowhere", "\(directory)/broken")
        symlink("round", "\(directory)/round")
        for place in ["", "/file", "/link", "/longer", "/./file"] { #expect(isReadable(directory + place), "\(place)") }
        for place in ["/missing", "/broken", "/round", "/file/x", "/listed"] {
            #expect(!isReadable(directory + place), "\(place)")
        }
        chmod("\(directory)/file", 0o000)
        #expect(!isReadable("\(directory)/file") && !isReadable("\(directory)/longer"))
        #expect(isReadable("/"))
    }

    @Test("a pipe, a socket and a device count by their mode: to open one would have effects, or fail")
    func nodes() throws {
        defer { Directory.removeTree(directory) }
        mkfifo("\(directory)/pipe", 0o600)
        let listener = try UnixSocket.listen(at: "\(directory)/door")
        // A socket cannot be opened, so a readable one was not opened.
        #expect(open("\(directory)/door", O_RDONLY | O_NONBLOCK) == -1 && errno == ENXIO, "\(listener.raw)")
        for name in ["pipe", "door"] {
            symlink(name, "\(directory)/to-\(name)")
            #expect(isReadable("\(directory)/\(name)") && isReadable("\(directory)/to-\(name)"))
        }
        #expect(isReadable("/dev/null"))
    }

    @Test(
        "a user reads what owner, group and mode give it, behind folders that it may enter",
        .enabled(if: Machine.isRoot, "needs root"))
    func users() throws {
        defer { Directory.removeTree(directory) }
        chmod(directory, 0o755)
        let file = "\(directory)/folder/key"
        mkdir("\(directory)/folder", 0o755)
        put("x", at: file, mode: 0o600)
        let user = Account(unlisted: 61_300, called: "wb-a", home: "/")
        #expect(try isReadable(file) && !isReadable(file, by: user), "it is root's")
        chown(file, 61_300, 0)
        #expect(try isReadable(file, by: user))
        chown(file, 0, 61_300)
        #expect(try !isReadable(file, by: user))
        chmod(file, 0o640)
        #expect(try isReadable(file, by: user))
        chmod("\(directory)/folder", 0o711)
        #expect(try isReadable(file, by: user) && !isReadable("\(directory)/folder", by: user))
        chmod("\(directory)/folder", 0o700)
        #expect(try !isReadable(file, by: user) && !isReadable("\(directory)/folder/missing", by: user))
        #expect(isReadable(file), "root is root as before")
    }

    @Test(
        "no link into /proc leads a user to what this process has open, behind folders that it may not enter",
        .enabled(if: Machine.isRoot, "needs root"))
    func descriptors() throws {
        defer { Directory.removeTree(directory) }
        chmod(directory, 0o755)
        mkdir("\(directory)/closed", 0o700)
        mkdir("\(directory)/closed/open", 0o755)
        put("x", at: "\(directory)/closed/open/key")
        chmod("\(directory)/closed/open/key", 0o644)
        let folder = try File.openDirectory("\(directory)/closed/open")
        symlink("/proc/self/fd/\(folder.raw)/key", "\(directory)/link")
        let user = Account(unlisted: 61_300, called: "wb-a", home: "/")
        #expect(try !isReadable("\(directory)/link", by: user))
        #expect(try !isReadable("/proc/self/fd/\(folder.raw)/key", by: user))
        #expect(isReadable("\(directory)/link"), "root may enter the folders")
    }

    @Test("each folder on the way is watched once, through links too, and a path without end is not followed")
    func way() throws {
        defer { Directory.removeTree(directory) }
        mkdir("\(directory)/a", 0o755)
        mkdir("\(directory)/b", 0o755)
        put("x", at: "\(directory)/b/file")
        symlink("../b", "\(directory)/a/link")
        #expect(watched("\(directory)/b/file") == 2, "the folder and the file")
        #expect(watched("\(directory)/a/missing/more") == 1)
        #expect(watched("\(directory)/a/link/file") == 3, "both folders and the file")
        symlink(".", "\(directory)/b/on")
        #expect(isReadable("\(directory)/b/" + String(repeating: "on/", count: 20) + "file"))
        #expect(!isReadable("\(directory)/b/" + String(repeating: "on/", count: 40) + "file"))
    }

    @Test("what happens on the way to one path is reported of that path, and what nobody watches any more is not")
    func reports() throws {
        defer { Directory.removeTree(directory) }
        for name in ["a", "b"] { mkdir("\(directory)/\(name)", 0o755) }
        // Other programs change the folders above, so their watches do not count.
        let above = watch.look(at: directory).watches
        let one = watch.look(at: "\(directory)/a/key").watches.subtracting(above)
        let other = watch.look(at: "\(directory)/b/key").watches.subtracting(above)
        #expect(try reported(of: one.union(other)) == [])
        put("x", at: "\(directory)/a/key")
        #expect(try reported(of: one.union(other)) == one)
        watch.remove(other)
        // The kernel reports removed watches too.
        #expect(try reported(of: one.union(other)) == other)
        put("x", at: "\(directory)/b/key")
        #expect(try reported(of: one.union(other)) == [])
    }

    private func reported(of watches: Set<Int32>) throws -> Set<Int32> {
        guard case .of(let numbers) = try watch.removeReports() else { throw Unreported() }
        return numbers.intersection(watches)
    }

    @Test("a flood of changes is read for a moment only, and then stands for a change of everything")
    func flood() throws {
        defer { Directory.removeTree(directory) }
        _ = watch.look(at: "\(directory)/key")
        let name = String(repeating: "n", count: 200)
        for number in 0..<2_000 { put("", at: "\(directory)/\(name)\(number)") }
        #expect(try watch.removeReports() == .many)
    }

    private struct Unreported: Error {}
}
