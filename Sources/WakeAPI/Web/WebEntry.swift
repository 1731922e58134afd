// The daemon's server, the tokens of clients that come over TCP, and the door that asks for them.
import WakeControl
import WakeEngine
import WakeModel
import WakeProfiles
import WakeSystem

package final class WebEntry {
    struct Unreadable: Error { let sentence: String }

    /// Also where nothing is listened to: tokens are made first.
    let book: Result<TokenBook, Unreadable>
    private(set) var door: WebDoor?
    package private(set) var warnings: [BridgeWarning] = []
    /// Written once: any client may request it, and writing it takes long.
    private(set) lazy var description: [UInt8] =
        if let door {
            APIDescription.document(version: version, cookie: door.cookieName)
        } else {
            APIDescription.document(version: version)
        }
    let version: String
    private var server: ControlServer?
    private let log = Log("web")

    package init(version: String, stateDirectory: String, _ catalog: Catalog) {
        self.version = version
        do { book = .success(try TokenBook(in: stateDirectory, catalog)) } catch {
            book = .failure(Unreadable(sentence: "\(error)"))
        }
    }

    /// `http://127.0.0.1:8787/`; nil where nothing is listened to.
    var address: String? {
        door.map { door in
            let host =
                door.settings.listen.isUnspecified ? Self.machineNames.first ?? "localhost" : door.settings.listen.host
            let scheme = door.settings.identity == nil ? "http" : "https"
            return "\(scheme)://\(host):\(door.settings.listen.port)\(door.settings.prefix)"
        }
    }

    /// Serves for as long as this is there; over TCP too where that is configured.
    package func admit(through server: ControlServer, _ configuration: WebConfiguration?) {
        self.server = server
        if let configuration { open(configuration, on: server) }
    }

    package func close() { server?.close() }

    /// A fault is logged, and the control socket stays as it is.
    private func open(_ configuration: WebConfiguration, on server: ControlServer) {
        do {
            let settings = try Self.settings(configuration)
            warnOfKey(settings.identity)
            if let fault = Digest.fault {
                throw Unreadable(sentence: "no token can be checked: \(fault); install libssl3")
            }
            let door = WebDoor(settings, authority: try book.get())
            try server.open(door)
            self.door = door
            log.notice("listens at \(address ?? "")")
            if !settings.listen.isLoopback, settings.identity == nil {
                log.warning("without TLS, all who share the network can read tokens; see web.certificate")
            }
        } catch let fault as Unreadable {
            log.error("\(fault.sentence); nothing is answered over TCP")
        } catch {
            log.error("\(error); nothing is answered over TCP")
        }
    }

    /// Warns of a long RSA key: the loop signs with it for every client that connects.
    private func warnOfKey(_ identity: TLSIdentity?) {
        guard let identity, let bits = RSAKey.bits(inPEM: identity.key), bits > Self.longestRSAKey else { return }
        let warning = BridgeWarning(
            "web.key is an RSA key of \(bits) bits", code: .webKey,
            why: "each client that connects takes long on the daemon's one thread, token or not",
            advice: "use a key for P-256; docs/reference/settings.md shows how to make one")
        log.warning(warning.sentence)
        warnings = [warning]
    }

    private static let longestRSAKey = 2048

    func endStreams(of holder: String) { server?.endStreams(of: holder) }

    private static func settings(_ configuration: WebConfiguration) throws -> WebSettings {
        var settings = WebSettings(listen: configuration.listen)
        settings.prefix = configuration.prefix
        settings.hosts = configuration.hosts + machineNames
        settings.areMetricsOpen = configuration.metrics == .open
        settings.secureCookie = configuration.secureCookie
        settings.proxies = configuration.proxyBytes
        guard let certificate = configuration.certificate, let key = configuration.key else { return settings }
        settings.identity = TLSIdentity(certificate: try text(of: certificate), key: try text(of: key))
        return settings
    }

    /// The program that renews certificates may run as another user, who could put a FIFO in their place.
    private static func text(of path: String) throws(SystemError) -> String {
        String(decoding: try File.plainBytes(at: path, limit: 1 << 20), as: UTF8.self)
    }

    /// Names by which other machines may call this one.
    private static var machineNames: [String] {
        guard let name = MachineName.own else { return [] }
        let short = name.prefix { $0 != "." }
        return ["\(short).local", name, String(short)]
    }
}
