// A request while it arrives; the library keeps it from its head to its completion.

final class Exchange {
    let client: Client
    let head: RequestHead
    let page: PageRequest
    /// As it was asked for, without its query.
    let address: String
    /// The announced length of the body; 0 where the client did not announce it.
    let announcedBytes: Int
    /// Nil where the API has no such address.
    let route: Route?
    /// Why the head leaves the end or the path of the request open; nil where it is unambiguous.
    let ambiguity: String?
    var request: ControlRequest
    /// The name of the client's token.
    var holder: String? { request.token }
    private(set) var receivedBytes = 0
    var transmission: Transmission?
    var pending: PendingAnswer?

    init(
        _ method: String, _ address: String, on connection: HTTPConnection, by peer: Client?, at admission: Admission,
        among routes: Routes
    ) {
        self.address = address
        let headers = connection.all(.headers)
        func first(_ name: String) -> String? { headers.first { $0.name == name }?.value }
        func all(_ name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }
        client = admission.origin(of: peer ?? .local(nil), forwardedFor: all("x-forwarded-for"))
        page = PageRequest(
            acceptsGzip: first("accept-encoding")?.contains("gzip") ?? false, knownTag: first("if-none-match"))
        announcedBytes = first("content-length").map { Int($0) ?? .max } ?? 0
        let prefix = admission.pathPrefix
        var path = address.split(separator: "/").map(String.init)
        if !prefix.isEmpty, path.starts(with: prefix) { path.removeFirst(prefix.count) }
        head = RequestHead(
            hosts: all("host"), origins: all("origin"), authorization: first("authorization"), cookies: all("cookie"),
            hookToken: path.count == 3 && path[1] == Route.hooks ? path[2] : nil)
        request = ControlRequest(
            method: method, path: path, query: connection.all(.query),
            headers: headers.filter { !["authorization", "cookie"].contains($0.name) }, user: self.client.user,
            address: self.client.address, accept: first("accept") ?? "")
        route = (try? routes.place(of: request)).map { routes.all[$0] }
        ambiguity = Self.ambiguity(
            lengths: all("content-length").count, encodings: all("transfer-encoding").count, address)
    }

    /// The library takes the first length, or the encoding. A proxy in front may take another one, and so see other
    /// requests.
    static func ambiguity(lengths: Int, encodings: Int, _ address: String) -> String? {
        if lengths > 1 { return "it has Content-Length \(lengths) times" }
        if lengths > 0, encodings > 0 { return "it has both Content-Length and Transfer-Encoding" }
        return address.contains("%00") ? "its path has a zero byte" : nil
    }

    var refusalOfHead: ControlRefusal? {
        ambiguity.map { reason in
            .badRequest("bad-request", "the request is ambiguous: \(reason)", "send one length, and a path of text")
        }
    }

    var bodyLimit: Int { route?.bodyLimit ?? Route.usualBodyLimit }

    var framing: ControlStream.Framing { request.accept.contains("text/event-stream") ? .events : .lines }

    func tooLarge(_ count: Int) -> ControlRefusal {
        ControlRefusal(
            .tooLarge, code: "too-large", message: "a body of \(count) bytes is too large",
            advice: "send at most \(bodyLimit) bytes")
    }

    /// Counts the bytes, and keeps them while their sum is within the limit.
    func append(_ bytes: some Collection<UInt8>) {
        receivedBytes += bytes.count
        if receivedBytes <= bodyLimit { request.body.append(contentsOf: bytes) }
    }
}
