// A request and its answer: passes the bytes that libcurl reads and writes to the file's owner as they come.
import CCurlMulti
import Glibc
import WakeSystem
import WakeTransfer

/// The owner of an exchange, which outlives it.
protocol HTTPExchangeOwner: AnyObject {
    /// A line of the head, with its end. False ends the exchange.
    func hear(head line: [UInt8]) -> Bool
    /// Bytes of the body. False ends the exchange.
    func hear(body bytes: [UInt8]) -> Bool
    func ended(_ exchange: HTTPExchange, _ ending: HTTPEnding)
}

enum HTTPEnding: Hashable {
    /// The answer came as a whole, or its owner ended it.
    case whole
    case certificate
    /// No later attempt would differ: libcurl, in these words, cannot make the request.
    case impossible(String)
    /// In libcurl's words.
    case failed(String)
}

final class HTTPExchange {
    private let multi: CurlMulti
    private let easy: UnsafeMutableRawPointer
    private unowned let owner: any HTTPExchangeOwner
    private var headers: UnsafeMutablePointer<curl_slist>?
    private let error: UnsafeMutablePointer<CChar>
    private let source: FileDescriptor?
    /// Its number; nil where nothing is sent.
    private let sourceNumber: Int32?
    /// The nearest class of address that it may connect to; nil where any is allowed.
    private let nearest: AddressReach?
    private let isProxied: Bool
    /// Whether it refused an address of its host as too near.
    private(set) var hasRefusedAddress = false
    private var isAdded = false

    /// - Parameters:
    ///   - source: the file to send, from its beginning; nil for a GET.
    ///   - headers: whole lines.
    ///   - nearest: how near the address may be; nil where the order itself names it.
    init(
        _ address: WebAddress, headers lines: [String], sending upload: consuming Upload?,
        as credential: TransferCredential?, notNearerThan nearest: AddressReach?, on multi: CurlMulti,
        of owner: any HTTPExchangeOwner
    ) throws(SystemError) {
        guard let easy = curl_easy_init() else { throw SystemError("ask", address.host, Errno(code: ENOMEM)) }
        (self.multi, self.easy, self.owner) = (multi, easy, owner)
        (self.nearest, isProxied) = (nearest, Self.isProxied(address))
        error = .allocate(capacity: Int(CURL_ERROR_SIZE))
        error.pointee = 0
        for line in lines { headers = curl_slist_append(headers, line) }
        let (method, count) = (upload?.method.rawValue ?? "", upload?.count ?? 0)
        sourceNumber = upload?.file.raw
        source = upload?.takeFile()
        guard prepare(address, credential, method, count) else {
            throw SystemError("prepare", "a request to \(address.host)", .invalid)
        }
        isAdded = true
        multi.add(easy)
    }

    /// The file to send.
    struct Upload: ~Copyable {
        var file: FileDescriptor
        let method: TransferOrder.Method
        let count: Int64

        consuming func takeFile() -> FileDescriptor { file }
    }

    deinit {
        if isAdded { multi.remove(easy) }
        curl_easy_cleanup(easy)
        curl_slist_free_all(headers)
        error.deallocate()
    }

    /// The target of the answer's redirect.
    var target: String? { wake_transfer_target(easy).map { String(cString: $0) } }
    var sent: Int64 { Int64(wake_transfer_sent(easy)) }

    /// The distance class of the server that answered. Behind a proxy it is unknown, and counts as the world.
    var reach: AddressReach {
        guard !isProxied, let text = wake_transfer_server(easy).map({ String(cString: $0) }) else { return .world }
        let bytes = NetworkAddress.bytes(of: text.contains(":") ? "[\(text)]" : text)
        return bytes.map { AddressReach($0) } ?? .world
    }

    /// Whether its host is written as an address that is too near. libcurl or a proxy resolves names later.
    static func isNearer(_ address: WebAddress, than nearest: AddressReach) -> Bool {
        let reach = address.isLocalhost ? .machine : NetworkAddress.bytes(of: address.name).map { AddressReach($0) }
        return reach.map { $0 < nearest } ?? false
    }

    /// Whether libcurl uses a proxy for it, unless no_proxy lists its host.
    private static func isProxied(_ address: WebAddress) -> Bool {
        let own = address.isSecure ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
        return (own + ["all_proxy", "ALL_PROXY"]).contains { !(Environment.value(of: $0) ?? "").isEmpty }
    }

    func end(_ code: CURLcode) {
        multi.remove(easy)
        isAdded = false
        owner.ended(self, ending(code))
    }

    private func ending(_ code: CURLcode) -> HTTPEnding {
        switch code {
        // A write error means that the receiver refused the bytes.
        case CURLE_OK, CURLE_WRITE_ERROR, CURLE_TOO_MANY_REDIRECTS: return .whole
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE: return .certificate
        // An unsupported protocol may be noise that a server sent.
        case CURLE_URL_MALFORMAT, CURLE_BAD_FUNCTION_ARGUMENT, CURLE_NOT_BUILT_IN: return .impossible(words(code))
        default: return .failed(words(code))
        }
    }

    private func words(_ code: CURLcode) -> String {
        let text = String(cString: error)
        return text.isEmpty ? String(cString: curl_easy_strerror(code)) : text
    }

    private func prepare(
        _ address: WebAddress, _ credential: TransferCredential?, _ method: String, _ count: Int64
    ) -> Bool {
        let this = Unmanaged.passUnretained(self).toOpaque()
        let isPrepared = wake_transfer_prepare(
            easy, address.text, headers, error,
            { bytes, size, count, owner in HTTPExchange.head(bytes, size * count, owner) },
            { bytes, size, count, owner in HTTPExchange.body(bytes, size * count, owner) }, this)
        guard isPrepared else { return false }
        // libcurl heeds neither by itself: the authorities of a network that has its own.
        let (file, folder) = (Environment.value(of: "SSL_CERT_FILE"), Environment.value(of: "SSL_CERT_DIR"))
        guard wake_transfer_trust(easy, file, folder) else { return false }
        guard screen() else { return false }
        if let credential, !wake_transfer_authorize(easy, credential.user, credential.password) { return false }
        guard sourceNumber != nil else { return true }
        return wake_transfer_send(
            easy, method, curl_off_t(count),
            { space, size, count, owner in HTTPExchange.send(space, size * count, owner) },
            { owner, offset, origin in HTTPExchange.seek(owner, offset, origin) }, this)
    }

    /// A name may have any address, so the address is checked when the connection is made. A proxy connects by itself,
    /// so then the proxy decides, for every host.
    private func screen() -> Bool {
        guard nearest != nil else { return true }
        if isProxied { return wake_transfer_always_by_proxy(easy) }
        return wake_transfer_screen(
            easy, { owner, _, address in HTTPExchange.open(address, owner) }, Unmanaged.passUnretained(self).toOpaque())
    }

    // MARK: Calls from libcurl

    private static func open(
        _ address: UnsafeMutablePointer<curl_sockaddr>?, _ owner: UnsafeMutableRawPointer?
    ) -> curl_socket_t {
        guard let address, let exchange = exchange(owner) else { return CURL_SOCKET_BAD }
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = Int(wake_address_bytes(address, &bytes))
        if let nearest = exchange.nearest, AddressReach(Array(bytes.prefix(count))) < nearest {
            exchange.hasRefusedAddress = true
            return CURL_SOCKET_BAD
        }
        return wake_open_socket(address)
    }

    private static func exchange(_ owner: UnsafeMutableRawPointer?) -> HTTPExchange? {
        owner.map { Unmanaged<HTTPExchange>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func head(_ bytes: UnsafePointer<CChar>?, _ count: Int, _ owner: UnsafeMutableRawPointer?) -> Int {
        let line = Array(UnsafeRawBufferPointer(start: bytes, count: count))
        return exchange(owner)?.owner.hear(head: line) == true ? count : 0
    }

    private static func body(_ bytes: UnsafePointer<CChar>?, _ count: Int, _ owner: UnsafeMutableRawPointer?) -> Int {
        let body = Array(UnsafeRawBufferPointer(start: bytes, count: count))
        return exchange(owner)?.owner.hear(body: body) == true ? count : 0
    }

    private static func send(_ space: UnsafeMutablePointer<CChar>?, _ room: Int, _ owner: UnsafeMutableRawPointer?)
        -> Int
    {
        guard let number = exchange(owner)?.sourceNumber else { return Int(CURL_READFUNC_ABORT) }
        let count = Glibc.read(number, space, room)
        return count < 0 ? Int(CURL_READFUNC_ABORT) : count
    }

    private static func seek(_ owner: UnsafeMutableRawPointer?, _ offset: curl_off_t, _ origin: Int32) -> Int32 {
        guard let number = exchange(owner)?.sourceNumber, lseek(number, off_t(offset), origin) >= 0 else {
            return CURL_SEEKFUNC_FAIL
        }
        return CURL_SEEKFUNC_OK
    }
}
