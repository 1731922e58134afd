// The transfers of all handlers in a running daemon: passes orders to each user's program, and reports the results.
import WakeAgenda
import WakeEngine
import WakeJournal
import WakeLoop
import WakeModel
import WakeSystem
import WakeTransfer

/// Owns the links. It observes the turn, and must live as long as the loop runs.
final class LiveTransfers: TriggerExecutor {
    private let turn: Turn
    private let catalog: Catalog
    private let journal: Journal
    private let loop: EventLoop
    private let accounts: AccountBook
    private let executor: ProcessExecutor
    private let runtimeDirectory: String
    private let stateDirectory: String
    /// By the labels of their users.
    private var links: [String: TransferLink] = [:]
    private let log = Log("transfers")

    private static let prefix = "transferd-"
    private static let suffix = ".sock"
    /// The pause of a transfer between two programs.
    private static let change = TimeSpan.seconds(60)

    init(of bridge: Bridge, runtimeDirectory: String, stateDirectory: String) {
        (turn, catalog, journal) = (bridge.turn, bridge.catalog, bridge.journal)
        (loop, accounts, executor) = (bridge.loop, bridge.accounts, bridge.executor)
        (self.runtimeDirectory, self.stateDirectory) = (runtimeDirectory, stateDirectory)
        turn.listeners.register(self)
    }

    // MARK: Programs

    /// Joins the programs that an earlier life of the daemon left at work. The manifests are read by then.
    func joinRunning() {
        let names = (try? Directory.names(in: runtimeDirectory, startingWith: Self.prefix)) ?? []
        let labels = names.filter { $0.hasSuffix(Self.suffix) }
            .map { String($0.dropFirst(Self.prefix.count).dropLast(Self.suffix.count)) }
        for label in labels where links[label] == nil {
            guard let user = user(labelled: label), let link = try? makeLink(of: user) else {
                end(label)
                continue
            }
            if link.join() { links[label] = link } else { try? File.remove(socketPath(of: label)) }
        }
    }

    private func user(labelled label: String) -> TransferUser? {
        for manifest in catalog.handlers.values {
            if let found = try? user(of: manifest), found.label == label { return found }
        }
        return nil
    }

    /// No manifest names its user, or none with these groups. It keeps what it has for the program that goes on with it:
    /// two would write into the same parts.
    private func end(_ label: String) {
        do throws(SystemError) {
            let lock = try File.open(lockPath(of: label), for: .create)
            try DetachedProgram.replaceHolder(of: lock.raw)
            try File.remove(socketPath(of: label))
        } catch {
            log.error("\(error.description); a wakebridge-transferd that no manifest asks for may go on")
        }
    }

    private func link(of user: TransferUser) throws(SystemError) -> TransferLink {
        if let link = links[user.label] { return link }
        let link = try makeLink(of: user)
        links[user.label] = link
        return link
    }

    private func makeLink(of user: TransferUser) throws(SystemError) -> TransferLink {
        try TransferLink(
            of: user, at: socketPath(of: user.label), lockedBy: lockPath(of: user.label), on: loop, for: self)
    }

    private func socketPath(of label: String) -> String { "\(runtimeDirectory)/\(Self.prefix)\(label)\(Self.suffix)" }
    private func lockPath(of label: String) -> String { "\(stateDirectory)/\(Self.prefix)\(label).lock" }

    /// Nil without a manifest: nothing else names the user that a program may run as.
    private func user(of handler: HandlerID) throws(SystemError) -> TransferUser? {
        guard let manifest = catalog.handlers[handler] else { return nil }
        return try user(of: manifest)
    }

    private func user(of manifest: HandlerManifest) throws(SystemError) -> TransferUser {
        TransferUser(try accounts.account(of: manifest))
    }

    // MARK: Commands

    func perform(_ action: TransferAction, of key: AgendaKey) {
        let (handler, command) = (key.handler, action.command)
        // An instance's directory has this name too, which no renaming changes.
        guard let name = journal.handlerName(of: handler) else { return }
        let (id, directory) = (TransferID(name, action.number), executor.stateDirectory(ofHandler: name))
        do throws(SystemError) {
            switch command {
            case .start: try start(command, id, of: handler, in: directory)
            case .pause: for link in links.values { link.send(command, for: id, in: directory) }
            case .answer: try answer(command, id, of: handler, in: directory)
            case .cancel, .confirm: try end(command, id, of: handler, in: directory)
            }
        } catch {
            log.error("\(error.description); the transfers of \(name) wait for the next start of the daemon")
        }
    }

    private func start(
        _ command: TransferCommand, _ id: TransferID, of handler: HandlerID, in directory: String
    ) throws(SystemError) {
        // Its manifest may have gone in the same turn.
        guard let user = try user(of: handler) else { return }
        // A program that moves it goes on with it, whatever groups the manifest names by now.
        if let mover = links.values.first(where: { $0.user.number == user.number && $0.moves(id) }) {
            return mover.send(command, for: id, in: directory)
        }
        try link(of: user).send(command, for: id, in: directory)
    }

    /// A credential is for the programs of the handler's own user alone.
    private func answer(
        _ command: TransferCommand, _ id: TransferID, of handler: HandlerID, in directory: String
    ) throws(SystemError) {
        guard let user = try user(of: handler) else { return }
        for link in links.values where link.user.number == user.number { link.send(command, for: id, in: directory) }
    }

    /// Notifies every program where no manifest names the user; one that never had the transfer does nothing.
    private func end(
        _ command: TransferCommand, _ id: TransferID, of handler: HandlerID, in directory: String
    ) throws(SystemError) {
        let owner = try? user(of: handler)
        let concerned = links.values.filter { $0.isConnected || $0.moves(id) }
        for link in concerned {
            // No program of another user looks into the directory.
            link.send(command, for: id, in: link.user.number == owner?.number ? directory : "")
        }
        // Another program must remove the files that an ended one left.
        guard let owner, TransferLink.isLeft(of: id, in: directory) else { return }
        let own = try link(of: owner)
        if !concerned.contains(where: { $0 === own }) { own.send(command, for: id, in: directory) }
    }
}

extension LiveTransfers: TransferListener {
    /// A user's program reports that user's handlers alone. Where a handler's owner is unknown, nothing is sent to it.
    func hear(_ news: AddressedNews, from link: TransferLink) {
        let id = news.id
        guard let handler = journal.knownHandlerID(named: id.handler) else {
            return link.send(.cancel, for: id, in: "")
        }
        guard catalog.handlers[handler] != nil else {
            // A manifest that is broken may return, and its open transfers are kept until then.
            if turn.transferName(of: handler, id.number) == nil { schedule(news.news, of: handler, id) }
            return
        }
        guard let user = try? user(of: handler) else { return }
        if user.number == link.user.number { return schedule(news.news, of: handler, id) }
        // The manifest names another user by now, whose program is asked after a rest.
        if link.moves(id) {
            schedule(.retries(in: Self.change, because: "its handler is another user's now"), of: handler, id)
        }
        link.send(.pause, for: id, in: "")
    }

    private func schedule(_ news: TransferNews, of handler: HandlerID, _ id: TransferID) {
        turn.schedule(.transfer(handler, id.number, news))
    }
}
