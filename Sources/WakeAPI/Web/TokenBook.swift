// The tokens of the bridge, by digests alone: a token is shown when it is made, and neither it nor its cookie is kept.
import WakeControl
import WakeEngine
import WakeModel
import WakeSystem

final class TokenBook {
    struct Entry {
        /// An inbox is that of the handler's id, which no renaming of a device gives to another one.
        var holder: TokenHolder
        /// The digest of the cookie that replaces the token.
        var digest: Digest
        var made: WallTime
    }

    private(set) var entries: [Entry] = []
    private let file: String
    private let catalog: Catalog

    /// The most tokens: each is compared with each that a client shows.
    static let capacity = 64
    /// 192 bits of chance, in 32 letters.
    private static let tokenBytes = 24

    /// Reads the file; one that is not there has no tokens.
    init(in stateDirectory: String, _ catalog: Catalog) throws {
        self.catalog = catalog
        file = stateDirectory + "/web-tokens.json"
        guard File.exists(file) else { return }
        let document = try JSONValue(parsing: try TrustedFile.bytes(at: file, limit: 1 << 20))
        entries = (document["tokens"]?.array ?? []).compactMap(Self.entry)
    }

    /// Returns the token, which is shown once.
    func make(_ holder: TokenHolder) throws(ControlRefusal) -> String {
        guard holder.name.isPlainName else { throw .badTokenName }
        guard !entries.contains(where: { $0.holder.name == holder.name }) else { throw .tokenExists(holder.name) }
        guard entries.count < Self.capacity else { throw .tooManyTokens }
        let token = Self.draw()
        guard let digest = Self.digest(of: .token(token)) else { throw .noDigest }
        entries.append(Entry(holder: holder, digest: digest, made: SystemClock.wall()))
        do throws(ControlRefusal) { try write() } catch {
            entries.removeLast()
            throw error
        }
        return token
    }

    /// With the name by which people call its handler now.
    func named(_ holder: TokenHolder) -> TokenHolder {
        guard let id = holder.access.inbox, let manifest = catalog.handlers.values.first(where: { $0.id == id }) else {
            return holder
        }
        return TokenHolder(name: holder.name, .inbox(of: manifest.name, isUrgent: holder.access.isUrgent))
    }

    func revoke(_ name: String) throws(ControlRefusal) {
        guard let place = entries.firstIndex(where: { $0.holder.name == name }) else {
            throw .unknownToken(name, among: entries.map(\.holder.name))
        }
        let revoked = entries.remove(at: place)
        do throws(ControlRefusal) { try write() } catch {
            entries.insert(revoked, at: place)
            throw error
        }
    }

    private func write() throws(ControlRefusal) {
        let bytes = JSONWriter.line { writer in
            writer.objects("tokens", entries) { writer, entry in
                writer.field("name", entry.holder.name)
                writer.access(entry.holder.access)
                writer.field("made", entry.made)
                writer.field("cookie_sha256", entry.digest.bytes.hexadecimal)
            }
        }
        do throws(SystemError) { try File.replace(file, with: bytes, mode: 0o600) } catch {
            throw .unkeptTokens(error)
        }
    }

    private static func entry(_ json: JSONValue) -> Entry? {
        guard let name = json["name"]?.string, let access = Access(json),
            let made = json["made"]?.string.flatMap(WallTime.init(rfc3339:)),
            let digest = json["cookie_sha256"]?.string.flatMap({ [UInt8](hexadecimal: $0) }).flatMap(Digest.init(kept:))
        else { return nil }
        return Entry(holder: TokenHolder(name: name, access), digest: digest, made: made)
    }

    /// From the kernel's source of chance, in letters that need no quoting in an address.
    private static func draw() -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        var source = SystemRandomNumberGenerator()
        let count = tokenBytes * 8 / 6
        return String((0..<count).map { _ in letters[Int(source.next() & 63)] })
    }
}

extension Access {
    /// As the file has it.
    fileprivate init?(_ json: JSONValue) {
        switch (json["role"]?.string.flatMap(AccessRole.init), json["inbox"]?.string) {
        case (let role?, nil): self = .role(role)
        case (nil, let handler?): self = .inbox(of: handler, isUrgent: json["urgent"]?.boolean ?? false)
        case (_, _): return nil
        }
    }
}

extension JSONWriter {
    /// Members of an object: `role` is null where the token is one for an inbox.
    mutating func access(_ access: Access) {
        field("role", access.role?.rawValue)
        guard let handler = access.inbox else { return }
        field("inbox", handler)
        if access.isUrgent { field("urgent", true) }
    }
}

extension TokenBook: TokenAuthority {
    func cookie(for token: String) -> String? { Self.cookie(for: token) }

    /// Cannot be turned back into the token, nor used in its place.
    private static func cookie(for token: String) -> String? {
        Digest(of: Array("wakebridge cookie \(token)".utf8))?.bytes.hexadecimal
    }

    private static func digest(of proof: Proof) -> Digest? {
        switch proof {
        case .token(let token): cookie(for: token).flatMap { digest(of: .cookie($0)) }
        case .cookie(let value): Digest(of: Array(value.utf8))
        }
    }

    /// Compares with every token, also after one has matched.
    func holder(of proof: Proof) -> TokenHolder? {
        guard let shown = Self.digest(of: proof) else { return nil }
        var found: TokenHolder?
        for entry in entries where entry.digest.matches(shown) { found = entry.holder }
        return found.map(named)
    }
}

extension ControlRefusal {
    fileprivate static let badTokenName = ControlRefusal(
        .badRequest, code: "bad-value", message: "that cannot be the name of a token",
        advice: "use 1 to 64 bytes of text, without '/' or space at its ends")

    fileprivate static let tooManyTokens = ControlRefusal(
        .conflict, code: "conflict", message: "there are \(TokenBook.capacity) tokens already",
        advice: "revoke one with: wakebridge web --revoke NAME")

    fileprivate static var noDigest: ControlRefusal {
        ControlRefusal(
            .failed, code: "failed", message: "no token can be made: \(Digest.fault ?? "libcrypto refused")",
            advice: "install libssl3")
    }

    fileprivate static func tokenExists(_ name: String) -> ControlRefusal {
        ControlRefusal(
            .conflict, code: "conflict", message: "there is a token '\(name)' already",
            advice: "use another name, or revoke it with: wakebridge web --revoke \(name)")
    }

    fileprivate static func unknownToken(_ name: String, among known: [String]) -> ControlRefusal {
        ControlRefusal(
            .notFound, code: "unknown-token", message: "there is no token '\(name)'",
            advice: "see which there are with: wakebridge web --list.\(suggestion(for: name, among: known))")
    }

    fileprivate static func unkeptTokens(_ error: SystemError) -> ControlRefusal {
        ControlRefusal(
            .failed, code: "failed", message: "the tokens could not be kept: \(error.description)",
            advice: "fix the state directory and try again")
    }
}
