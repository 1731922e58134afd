// The tool's client of the control socket, and the edge to libcurl. One request at a time; bytes are copied out at once.
import CCurl
import Glibc
import WakeArguments
import WakeControl
import WakeDaemon
import WakeEngine
import WakeModel
import WakeSystem

/// A daemon's control socket.
struct ControlClient {
    let socketPath: String
    /// The other place that was searched, if neither socket exists.
    var otherSocket: String?

    /// Whether it is the socket of the system's daemon.
    var isOfSystem: Bool { socketPath == BridgePlaces.machine.controlSocket || otherSocket != nil }
    /// The advice after a sentence that there is no such socket.
    var norOther: String { otherSocket.map { ", nor \($0)" } ?? "" }

    enum Method: String {
        case get = "GET"
        case post = "POST"
    }

    fileprivate static let headersOfJSON = ["Content-Type: application/json"]

    /// How a stream ended.
    enum Ending { case closed, interrupted, enough }

    /// Sends a request and waits for the whole answer. A refusal is thrown with the daemon's sentence.
    func ask(
        _ method: Method, _ path: String, body: [UInt8] = [], headers: [String] = Self.headersOfJSON,
        within time: TimeSpan = .seconds(30)
    ) throws(Complaint) -> ControlAnswer {
        let transfer = try Transfer(
            to: socketPath, method, path, body: body, headers: headers,
            timeoutMilliseconds: Int(time.wholeMilliseconds))
        let start = SystemClock.now().monotonic
        var hasToldOfWaiting = false
        while true {
            switch transfer.turn(interrupt: -1, waitMilliseconds: 1000) {
            case WAKE_CURL_GOES_ON, WAKE_CURL_INTERRUPTED:
                if !hasToldOfWaiting, SystemClock.now().monotonic - start > .seconds(1) {
                    hasToldOfWaiting = true
                    Console.inform("waiting for wakebridged at \(socketPath) …")
                }
            case WAKE_CURL_DONE: return try transfer.answer(from: socketPath)
            default: throw transfer.failure(of: self)
            }
        }
    }

    /// Asks for a document, where the signals of Ctrl-C are blocked already; nil when they come.
    func askInterruptibly(_ path: String, within time: TimeSpan) throws(Complaint) -> ControlAnswer? {
        let transfer = try Transfer(
            to: socketPath, .get, path, body: [], timeoutMilliseconds: Int(time.wholeMilliseconds))
        let interrupt = wake_interrupt_descriptor()
        defer { if interrupt >= 0 { close(interrupt) } }
        while true {
            switch transfer.turn(interrupt: interrupt, waitMilliseconds: 1000) {
            case WAKE_CURL_GOES_ON: continue
            case WAKE_CURL_INTERRUPTED: return nil
            case WAKE_CURL_DONE: return try transfer.answer(from: socketPath)
            default: throw transfer.failure(of: self)
            }
        }
    }

    /// Calls `line` with each line of a streamed answer, without its line end, until either side ends it. `pace` is called
    /// after every wait and returns the length of the next; nil ends the stream. `opened` is called once, when the daemon has
    /// begun the stream: from then on nothing is missed.
    func follow(
        _ method: Method, _ path: String, pace: () -> TimeSpan? = { .seconds(60) }, opened: () -> Void = {},
        _ line: @escaping (ArraySlice<UInt8>) -> Void
    ) throws(Complaint) -> Ending {
        let transfer = try Transfer(to: socketPath, method, path, body: [], timeoutMilliseconds: 0)
        transfer.onLine = line
        let interrupt = wake_interrupt_descriptor()
        defer { if interrupt >= 0 { close(interrupt) } }
        var isOpen = false
        while true {
            if !isOpen, transfer.isAccepted {
                isOpen = true
                opened()
            }
            guard let wait = pace() else { return .enough }
            switch transfer.turn(interrupt: interrupt, waitMilliseconds: Int32(clamping: wait.wholeMilliseconds)) {
            case WAKE_CURL_GOES_ON: continue
            case WAKE_CURL_INTERRUPTED: return .interrupted
            case WAKE_CURL_DONE:
                _ = try transfer.answer(from: socketPath)
                return .closed
            default: throw transfer.failure(of: self)
            }
        }
    }
}

/// A whole answer: its bytes, and the parsed JSON.
struct ControlAnswer {
    let bytes: [UInt8]
    let json: JSONValue
}

/// An HTTP exchange with all that libcurl keeps for it.
private final class Transfer {
    private let easy: UnsafeMutableRawPointer
    private let multi: UnsafeMutableRawPointer
    private let headers: UnsafeMutablePointer<curl_slist>?
    private let error: UnsafeMutablePointer<CChar>
    /// Libcurl reads it while it sends.
    private let body: UnsafeMutableBufferPointer<UInt8>
    private var received: [UInt8] = []
    var onLine: ((ArraySlice<UInt8>) -> Void)?

    init(
        to socketPath: String, _ method: ControlClient.Method, _ path: String, body bytes: [UInt8],
        headers lines: [String] = ControlClient.headersOfJSON, timeoutMilliseconds: Int
    ) throws(Complaint) {
        do throws(SystemError) { try BridgePlaces.check(socketPath) } catch {
            throw .failure("cannot reach wakebridged: \(error.description)")
        }
        guard let easy = curl_easy_init(), let multi = curl_multi_init() else {
            throw .failure("could not prepare a request: libcurl will not start; look at the memory that is free")
        }
        self.easy = easy
        self.multi = multi
        headers = (lines + ["Expect:"]).reduce(nil) { curl_slist_append($0, $1) }
        error = .allocate(capacity: Int(CURL_ERROR_SIZE))
        error.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        body = .allocate(capacity: bytes.count)
        _ = body.initialize(from: bytes)
        let isPrepared = wake_curl_prepare(
            easy, socketPath, "http://wakebridge" + path, method.rawValue, bytes.isEmpty ? nil : body.baseAddress,
            bytes.count, timeoutMilliseconds, headers, error,
            { bytes, _, count, owner in
                guard let bytes, let owner else { return 0 }
                let arrived = UnsafeRawBufferPointer(start: bytes, count: count)
                Unmanaged<Transfer>.fromOpaque(owner).takeUnretainedValue().receive(Array(arrived))
                return count
            }, Unmanaged.passUnretained(self).toOpaque())
        guard isPrepared, curl_multi_add_handle(multi, easy) == CURLM_OK else {
            throw .failure("could not prepare a request to \(socketPath): the path is too long for a Unix socket")
        }
    }

    deinit {
        curl_multi_remove_handle(multi, easy)
        curl_easy_cleanup(easy)
        curl_multi_cleanup(multi)
        curl_slist_free_all(headers)
        error.deallocate()
        body.deallocate()
    }

    func turn(interrupt: Int32, waitMilliseconds: Int32) -> wake_curl_turn {
        wake_curl_turn(multi, interrupt, waitMilliseconds)
    }

    /// The daemon has answered, and not with a refusal.
    var isAccepted: Bool { (200..<300).contains(wake_curl_status(easy)) }

    private func receive(_ bytes: [UInt8]) {
        received += bytes
        guard let onLine, isAccepted else { return }
        while let end = received.firstIndex(of: UInt8(ascii: "\n")) {
            onLine(received[..<end])
            received.removeFirst(end + 1)
        }
    }

    /// The answer, or the sentence of the refusal.
    func answer(from socketPath: String) throws(Complaint) -> ControlAnswer {
        let status = wake_curl_status(easy)
        let json = (try? JSONValue(parsing: received)) ?? .null
        if isAccepted { return ControlAnswer(bytes: received, json: json) }
        guard let error = json["error"], let message = error["message"]?.string else {
            throw .failure("the daemon at \(socketPath) answered with status \(status) and no reason; look at its log")
        }
        throw .refused(
            DaemonRefusal(status, error.text("code"), message.printable, advice: error.text("advice")))
    }

    /// The socket's mode refuses the connection: the sentence that the daemon itself would answer.
    private func denial(at socketPath: String) -> Complaint {
        guard let audience = UnixSocket.audience(of: socketPath) else {
            return .notPermitted("cannot reach wakebridged at \(socketPath): permission denied; use sudo")
        }
        let refusal = ControlRefusal.stranger(geteuid(), daemonUser: audience.user, group: audience.group)
        return .notPermitted("\(refusal.message); \(refusal.advice)")
    }

    func failure(of client: ControlClient) -> Complaint {
        let socketPath = client.socketPath
        let number = Int32(wake_curl_errno(easy))
        let advice = "'wakebridge doctor' says how to start it"
        switch number {
        case ENOENT:
            let absence = "there is no such socket\(client.norOther)"
            return .notRunning("cannot reach wakebridged at \(socketPath): \(absence); \(advice)")
        case ECONNREFUSED:
            return .notRunning("cannot reach wakebridged at \(socketPath): no process listens there; \(advice)")
        case EACCES: return denial(at: socketPath)
        default:
            let reason = error.pointee == 0 ? "the connection ended" : String(cString: error)
            return .failure(
                "lost wakebridged at \(socketPath): \(reason); 'wakebridge status' tells whether it still runs")
        }
    }
}

extension String {
    /// Percent-encoded for one component of a path or one value of a query (RFC 3986, 2.3).
    var percentEncoded: String {
        var encoded: [UInt8] = []
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.append(byte)
            default:
                encoded.append(UInt8(ascii: "%"))
                encoded.appendHexadecimal([byte])
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}

// Finds the daemon's control socket: the option, then the environment, then the place where a daemon answers this user.
extension ParsedArguments {
    var client: ControlClient {
        if let path = socketSaid(environment: Environment.value(of:)) { return ControlClient(socketPath: path) }
        let places = BridgePlaces.mine
        return ControlClient(socketPath: places.controlSocket, otherSocket: places.otherSocket)
    }

    /// Nil where no option or variable names one. `environment` returns nil for an unset or empty variable.
    func socketSaid(environment: (String) -> String?) -> String? {
        // The option nearest to the verb wins, whichever of the two it is.
        if let said = options.last(where: { $0.name == "socket" || $0.name == "runtime" }), let value = said.value {
            return said.name == "socket" ? value : value + "/control.sock"
        }
        return environment("WAKEBRIDGE_SOCKET")
    }
}
