// wakebridge web: lets the bridge listen for browsers and scripts, and makes, lists and revokes their tokens.
import Glibc
import WakeArguments
import WakeControl
import WakeDaemon
import WakeEngine
import WakeModel
import WakeSystem

extension Verb {
    static var web: Verb {
        Verb(
            name: "web", summary: "let browsers and scripts in over TCP, and make their tokens",
            synopsis: [
                "[--json]", "--enable [--listen ADDRESS:PORT] [--config DIR]",
                "[--json] --token NAME [--role ROLE | --inbox HANDLER [--urgent]]", "[--json] --revoke NAME",
                "--disable [--config DIR]",
            ],
            detail: """
                Without an option it shows where the bridge listens, and who has tokens. A token is shown once, with an
                address and a QR code that hold it; the bridge keeps its digest alone. Revoking one ends its streams. What
                --enable and --disable change in wakebridge.json5 takes effect at the daemon's next start.
                """,
            examples: ["sudo wakebridge web --enable", "wakebridge web --token phone"],
            flags: [
                Flag("enable", "listen, and make the first token"),
                Flag(
                    "listen", value: "ADDRESS:PORT",
                    "where to listen; \(WebConfiguration.usualAddress), which is this machine alone, if not given"),
                Flag("token", value: "NAME", "make a token, called so in the list"),
                Flag("role", value: "ROLE", "what it allows: read, operate, or pair if not given"),
                Flag("inbox", value: "HANDLER", "the token sends messages to this handler, and opens nothing else"),
                Flag("urgent", "its messages may have the urgency high, which passes the inbox's rate"),
                Flag("revoke", value: "NAME", "let that token in no more"),
                Flag("list", "show where the bridge listens, and who has tokens"),
                Flag("disable", "do not listen any more"),
                NamedPlaces.configFlag,
                jsonFlag,
            ] + daemonFlags
        ) { words throws(Complaint) in
            try words.atMost(0)
            return try WebOrder(words).perform(words)
        }
    }
}

/// The verb's order.
private enum WebOrder {
    case list
    case enable(listen: NetworkAddress?)
    case makeToken(String, Access)
    case revoke(String)
    case disable

    init(_ words: ParsedArguments) throws(Complaint) {
        let said = ["enable", "token", "revoke", "list", "disable"].filter(words.has)
        guard said.count <= 1 else { throw .usage("say one of --\(said.joined(separator: ", --"))") }
        if words.has("listen"), said != ["enable"] { throw .usage("--listen goes with --enable") }
        for option in ["role", "inbox"] where words.has(option) && said != ["token"] {
            throw .usage("--\(option) goes with --token")
        }
        if words.has("urgent"), !words.has("inbox") { throw .usage("--urgent goes with --inbox") }
        switch said.first {
        case "enable": self = .enable(listen: try Self.address(words))
        case "token": self = .makeToken(words.value("token") ?? "", try Self.access(words))
        case "revoke": self = .revoke(words.value("revoke") ?? "")
        case "disable": self = .disable
        default: self = .list
        }
    }

    private static func address(_ words: ParsedArguments) throws(Complaint) -> NetworkAddress? {
        guard let text = words.value("listen") else { return nil }
        if let address = NetworkAddress(text) { return address }
        throw .usage("'\(text)' is no numeric address with a port; an example is \(WebConfiguration.usualAddress)")
    }

    private static func access(_ words: ParsedArguments) throws(Complaint) -> Access {
        guard let handler = words.value("inbox") else { return .role(try role(words)) }
        guard !words.has("role") else { throw .usage("say one of --role, --inbox") }
        return .inbox(of: handler, isUrgent: words.has("urgent"))
    }

    private static func role(_ words: ParsedArguments) throws(Complaint) -> AccessRole {
        guard let text = words.value("role") else { return .pair }
        if let role = AccessRole(rawValue: text) { return role }
        let known = AccessRole.allCases.map(\.rawValue)
        throw .usage(
            "there is no role '\(text)': use \(known.joined(separator: ", ")).\(suggestion(for: text, among: known))")
    }

    func perform(_ words: ParsedArguments) throws(Complaint) -> Int32 {
        switch self {
        case .list: return try Verb.report(words, "/v1/tokens", Self.text)
        case .enable(let listen): try Self.enable(listen, words)
        case .makeToken(let name, let access): try Self.makeToken(name, access, words)
        case .revoke(let name):
            return try Verb.order(words, "/v1/tokens/revoke", body: Verb.object([("name", name)])) { _ in
                "the token '\(name.printable)' is revoked, and its streams have ended"
            }
        case .disable: try Self.disable(words)
        }
        return 0
    }

    // MARK: Tokens

    private static func text(_ answer: JSONValue) -> String {
        let address = answer["address"]?.string.map { "listens at \($0.printable)\n" }
        let tokens = answer.list("tokens").map { [$0.text("name"), opens($0), spokenSecond($0.text("made"))] }
        let none = "there are no tokens; make one with: wakebridge web --token NAME\n"
        return (address ?? "the web page is off; to turn it on, run: sudo wakebridge web --enable\n")
            + (tokens.isEmpty ? none : "\n" + Table(head: ["TOKEN", "OPENS", "MADE"], rows: tokens).text)
    }

    private static func opens(_ token: JSONValue) -> String {
        token["inbox"]?.string.map { "the inbox of \($0.printable)" } ?? token.text("role")
    }

    private static func makeToken(_ name: String, _ access: Access, _ words: ParsedArguments) throws(Complaint) {
        let body = JSONWriter.line { writer in
            writer.field("name", name)
            switch access {
            case .role(let role): writer.field("role", role.rawValue)
            case .inbox(let handler, let isUrgent):
                writer.field("inbox", handler)
                if isUrgent { writer.field("urgent", true) }
            }
        }
        let answer = try words.client.ask(.post, "/v1/tokens", body: body)
        if words.has("json") { return Console.print(answer.bytes) }
        show(answer.json, at: answer.json["address"]?.string)
    }

    private static func show(_ answer: JSONValue, at address: String?) {
        let token = answer.text("token")
        let name = answer.text("name")
        let opened = answer["inbox"] == nil ? "with the role '\(answer.text("role"))'" : "for \(opens(answer))"
        Console.print("the token '\(name)' \(opened), shown this once:\n")
        Console.print("\n  \(token)\n\n")
        guard let address else {
            return Console.print("the web page is off; to turn it on, run: sudo wakebridge web --enable\n")
        }
        if answer["inbox"] != nil {
            return Console.print("web hooks send messages to: \(address.printable)v1/hooks/\(token)\n")
        }
        let place = "\(address.printable)#token=\(token)"
        Console.print("open it in a browser: \(place)\n")
        if isatty(1) == 1, let code = QRCode(place) { Console.print("\n\(code.text)") }
    }

    // MARK: Settings

    private static func line(_ address: NetworkAddress) -> String { "web: { listen: \"\(address)\" }" }

    private static func enable(_ listen: NetworkAddress?, _ words: ParsedArguments) throws(Complaint) {
        let file = try SettingsFile(of: words, for: "web")
        let present = file.settings.web
        if let present, let listen, present.listen != listen {
            throw .failure("\(file.path) says that the bridge listens at \(present.listen); change that there")
        }
        guard let address = present?.listen ?? listen ?? NetworkAddress(WebConfiguration.usualAddress) else { return }
        if present == nil {
            try file.set("web.listen", to: "\"\(address)\"")
            Console.print("wrote \(line(address)) to \(file.path.printable)\n")
        }
        let listing = try tokens(words, of: file, isWritten: present == nil)
        let isListening = listing["address"]?.string != nil
        let place = listing["address"]?.string ?? "http://\(address)\(present?.prefix ?? "/")"
        if listing.list("tokens").isEmpty {
            let body = Verb.object([("name", "first"), ("role", AccessRole.pair.rawValue)])
            show(try words.client.ask(.post, "/v1/tokens", body: body).json, at: place)
        }
        Console.print(
            isListening
                ? "the bridge listens at \(place.printable)\n"
                : "it takes effect at the daemon's next start: \(restart(words))\n")
        if !address.isLoopback, present?.certificate == nil {
            Console.say("without TLS, all who share the network can read what is sent, tokens too: see web.certificate")
        }
    }

    /// The daemon's answer. Without a daemon the sentence states what was done and what is left to do.
    private static func tokens(
        _ words: ParsedArguments, of file: SettingsFile, isWritten: Bool
    ) throws(Complaint) -> JSONValue {
        let change =
            isWritten ? "\(file.path.printable) was changed" : "\(file.path.printable) had the setting already"
        do throws(Complaint) {
            if let obstacle = try words.client.obstacle(toReading: File.parent(of: file.path)) {
                throw .notFound("\(change), and no token was made: \(obstacle)")
            }
            return try words.client.ask(.get, "/v1/tokens").json
        } catch {
            guard case .notRunning = error else { throw error }
            throw .notRunning(
                "\(change), and no token was made, for wakebridged is not running; "
                    + "start it, then run 'wakebridge web --token NAME'")
        }
    }

    private static func restart(_ words: ParsedArguments) -> String {
        InitSystem.ofThisMachine.restartOfBridge(isOfSystem: words.client.isOfSystem)
    }

    private static func disable(_ words: ParsedArguments) throws(Complaint) {
        let file = try SettingsFile(of: words, for: "web")
        guard let present = file.settings.web else { return Console.print("the web page is off already\n") }
        try file.remove(line(present.listen))
        Console.print("took \(line(present.listen)) out of \(file.path.printable)\n")
        Console.print("it takes effect at the daemon's next start: \(restart(words))\n")
    }
}
