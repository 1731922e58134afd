// The number of a handler's own user: the same over restarts, and used by nothing else.
import Glibc
import TestBench
import Testing
import WakeSystem

@testable import WakeDaemon
@testable import WakeEngine

@Suite("A user for each handler", .enabled(if: geteuid() == 0, "only root gives directories away"))
final class OwnUsersTests {
    private let folder = makeDirectory("/tmp/wakeownusers.XXXXXX")
    private var listed: Set<UInt32> = []

    deinit { Directory.removeTree(folder) }

    /// As one run of the daemon sees it.
    private func users(neighbours: [String] = []) -> OwnUsers {
        OwnUsers(
            .init(handlers: folder + "/handlers", neighbours: neighbours, locks: folder + "/locks"),
            isListed: { [unowned self] in listed.contains($0) })
    }

    private func giveDirectory(of handler: String, owner: UInt32, below place: String = "handlers") throws {
        let path = "\(folder)/\(place)/\(handler)"
        try Directory.create(path)
        #expect(lchown(path, owner, owner) == 0)
    }

    private func first(_ handler: String) -> UInt32 {
        OwnUsers.numbers.lowerBound + OwnUsers.firstChoice(of: handler)
    }

    @Test("a handler has a number of DynamicUser's range, the same in each run, with only the group of that number")
    func isStable() throws {
        let account = try users().account(of: "hr")
        // FNV-1a of "hr" is 0x4f3acf3f.
        #expect(account.user == 62_559)
        #expect(account.group == account.user && account.groups == [account.user])
        #expect(account.name == "wb-hr" && account.home == folder + "/handlers/hr")
        #expect(try users().account(of: "hr").user == account.user)
    }

    @Test("the owner of its directory is its number again")
    func isKept() throws {
        try giveDirectory(of: "hr", owner: 61_999)
        #expect(try users().account(of: "hr").user == 61_999)
        try giveDirectory(of: "gps", owner: 65_534)
        #expect(try users().account(of: "gps").user == first("gps"), "no number of the range")
    }

    @Test("numbers of a removed handler, of another daemon or of an account are not used")
    func isFree() throws {
        let wanted = first("hr")
        try giveDirectory(of: "gone", owner: wanted)
        try giveDirectory(of: "hr", owner: wanted + 1, below: "neighbour")
        listed = [wanted + 2]
        let users = users(neighbours: [folder + "/neighbour"])
        #expect(try users.account(of: "hr").user == wanted + 3)
    }

    @Test("two handlers without directories get two numbers, and a copied directory does not duplicate one")
    func isUnique() throws {
        let users = users()
        try giveDirectory(of: "a", owner: 61_999)
        try giveDirectory(of: "copy", owner: 61_999)
        #expect(try users.account(of: "copy").user != 61_999)
        #expect(try users.account(of: "a").user == 61_999)
        let numbers = try (0..<500).map { try users.account(of: "handler\($0)").user }
        #expect(Set(numbers).count == 500)
    }

    @Test("a number that systemd has assigned is skipped, a kept one too, and ours is locked against systemd")
    func sharesWithSystemd() throws {
        try Directory.create(folder + "/locks")
        let wanted = first("hr")
        try giveDirectory(of: "hr", owner: wanted)
        let systemd = try #require(try UserLock.acquire(wanted, for: "unit", in: folder + "/locks"))
        let users = users()
        let account = try users.account(of: "hr")
        #expect(account.user == wanted + 1)
        #expect(text(of: "\(folder)/locks/\(account.user)") == "wb-hr\n")
        #expect(try UserLock.acquire(account.user, for: "unit", in: folder + "/locks") == nil)
        withExtendedLifetime((systemd, users)) {}
        #expect(text(of: "\(folder)/locks/\(wanted)") == "unit\n")
    }

    @Test("where all numbers are taken, those of handlers that are gone and left nothing come free, and no others")
    func takesBack() throws {
        for number in OwnUsers.numbers.dropLast(2) { try giveDirectory(of: "gone\(number)", owner: number) }
        let last = OwnUsers.numbers.upperBound
        try giveDirectory(of: "full", owner: last - 1)
        put("kept", at: "\(folder)/handlers/full/file")
        try giveDirectory(of: "configured", owner: last)
        let users = users()
        #expect(throws: SystemError.self) { try users.account(of: "hr") }
        let released = users.release(but: ["configured"])
        #expect(released.count == OwnUsers.numbers.count - 2 && !released.contains("full"))
        #expect(try Directory.names(in: folder + "/handlers") == ["configured", "full"])
        #expect(try users.account(of: "hr").user == first("hr"))
        #expect(try users.account(of: "full").user == last - 1)
    }

    @Test(
        "a number under which a process runs is not taken back, and one that was taken back is locked by its next handler"
    )
    func takesBackUnused() throws {
        try Directory.create(folder + "/locks")
        let users = users()
        let (busy, idle) = (try users.account(of: "busy").user, try users.account(of: "idle").user)
        let process = try Child(["setpriv", "--reuid=\(busy)", "--clear-groups", "tail", "-f", "/dev/null"])
        let runs = Patience.wait { text(of: "/proc/\(process.process)/status").contains("Uid:\t\(busy)") }
        try #require(runs)
        try Directory.create(folder + "/handlers")
        #expect(users.release(but: []) == ["idle"])
        #expect(try users.account(of: "idle").user == idle)
        #expect(try users.account(of: "busy").user == busy)
    }

    @Test("a kept number that an account has now is given up")
    func yieldsToAccounts() throws {
        try giveDirectory(of: "hr", owner: 61_999)
        listed = [61_999]
        #expect(try users().account(of: "hr").user == first("hr"))
    }
}
