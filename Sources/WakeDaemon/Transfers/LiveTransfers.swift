// The transfers of all handlers in a daemon that runs: what the agenda asks for goes to each user's program, and what that says comes back.
import Glibc
import WakeAgenda
import WakeEngine
import WakeLoop
import WakeModel
import WakeSystem
import WakeTransfer

/// Owns the links. It observes the turn, and must live as long as the loop runs.
final class LiveTransfers: TurnObserver {
    private let bridge: Bridge
    private let runtimeDirectory: String
    private let stateDirectory: String
    private var links: [UInt32: TransferLink] = [:]
    private let log = Log("transfers")

    private static let prefix = "transferd-"
    private static let suffix = ".sock"

    init(of bridge: Bridge, runtimeDirectory: String, stateDirectory: String) {
        (self.bridge, self.runtimeDirectory, self.stateDirectory) = (bridge, runtimeDirectory, stateDirectory)
        bridge.turn.listeners.observe(self)
    }

    /// Joins the programs that an earlier life of the daemon left at work. The manifests are read by then.
    func joinRunning() {
        let names = (try? Directory.names(in: runtimeDirectory, startingWith: Self.prefix)) ?? []
        for name in names where name.hasSuffix(Self.suffix) {
            guard let user = UInt32(name.dropFirst(Self.prefix.count).dropLast(Self.suffix.count)), links[user] == nil,
                let link = try? makeLink(of: user, nil)
            else { continue }
            if link.join() { links[user] = link } else { try? File.remove("\(runtimeDirectory)/\(name)") }
        }
    }

    func perform(_ effect: AgendaEffect) {
        guard case .transfer(let handler, let number, let command) = effect else { return }
        let name = bridge.catalog.name(of: handler)
        do throws(SystemError) {
            guard let link = try link(of: handler, isWanted: command.isStart) else { return }
            link.send(command, for: TransferID(name, number), in: bridge.stateDirectory(ofHandler: name))
        } catch {
            log.error("\(error.description); the transfers of \(name) wait for the next start of the daemon")
        }
    }

    /// - Parameter isWanted: one is made where there is none.
    private func link(of handler: HandlerID, isWanted: Bool) throws(SystemError) -> TransferLink? {
        let user = try user(of: handler)
        if let link = links[user.number] { return link }
        guard isWanted else { return nil }
        let link = try makeLink(of: user.number, user.account)
        links[user.number] = link
        return link
    }

    private func user(of handler: HandlerID) throws(SystemError) -> (number: UInt32, account: Account?) {
        guard let manifest = bridge.catalog.handlers[handler], let account = try bridge.accounts.account(of: manifest)
        else { return (geteuid(), nil) }
        return (account.user, account.isCurrent ? nil : account)
    }

    private func makeLink(of user: UInt32, _ account: Account?) throws(SystemError) -> TransferLink {
        let path = "\(runtimeDirectory)/\(Self.prefix)\(user)\(Self.suffix)"
        let account = account ?? (user == geteuid() ? nil : known(user))
        return try TransferLink(
            of: user, account, at: path, lockedBy: "\(stateDirectory)/\(Self.prefix)\(user).lock", on: bridge.loop,
            for: self)
    }

    /// One that a handler runs as.
    private func known(_ user: UInt32) -> Account? {
        let accounts = bridge.catalog.handlers.values.compactMap { try? bridge.accounts.account(of: $0) }
        return accounts.first { $0.user == user }
    }
}

extension LiveTransfers: TransferListener {
    /// A user's program speaks of that user's handlers alone.
    func hear(_ news: AddressedNews, from link: TransferLink) {
        guard let handler = bridge.catalog.handler(named: news.id.handler), let owner = try? user(of: handler).number,
            owner == link.user
        else { return link.send(.cancel, for: news.id, in: "") }
        bridge.turn.schedule(.transfer(handler, news.id.number, news.news))
    }
}

extension TransferCommand {
    fileprivate var isStart: Bool {
        switch self {
        case .start: true
        case .pause, .cancel, .confirm, .answer: false
        }
    }
}
