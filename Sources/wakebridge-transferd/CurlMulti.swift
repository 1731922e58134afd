// libcurl on the event loop: it names the sockets and the time that it waits for, and is called when they come.
import CCurlMulti
import Glibc
import WakeLoop
import WakeModel
import WakeSystem

/// The edge to libcurl: no pointer of C leaves this file and ``HTTPExchange``'s.
final class CurlMulti {
    private let loop: EventLoop
    private let multi: UnsafeMutableRawPointer
    private var watches: [Int32: Watch] = [:]
    private var timer: Timer?

    init(on loop: EventLoop) throws(SystemError) {
        self.loop = loop
        guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK, let multi = curl_multi_init() else {
            throw SystemError("start", "libcurl", .invalid)
        }
        self.multi = multi
        timer = try loop.timer(on: .monotonic, of: self) { $0.act(on: CURL_SOCKET_TIMEOUT, 0) }
        let prepared = wake_multi_prepare(
            multi,
            { _, socket, what, owner, _ in
                if let owner { Unmanaged<CurlMulti>.fromOpaque(owner).takeUnretainedValue().follow(socket, what) }
                return 0
            },
            { _, milliseconds, owner in
                if let owner { Unmanaged<CurlMulti>.fromOpaque(owner).takeUnretainedValue().arm(milliseconds) }
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
        guard prepared else { throw SystemError("prepare", "libcurl", .invalid) }
    }

    deinit { curl_multi_cleanup(multi) }

    func add(_ easy: UnsafeMutableRawPointer) { curl_multi_add_handle(multi, easy) }
    func remove(_ easy: UnsafeMutableRawPointer) { curl_multi_remove_handle(multi, easy) }

    private func arm(_ milliseconds: Int) {
        if milliseconds < 0 {
            timer?.disarm()
        } else {
            timer?.arm(at: SystemClock.monotonic() + .milliseconds(Int64(milliseconds)))
        }
    }

    private func follow(_ socket: Int32, _ what: Int32) {
        guard what != CURL_POLL_REMOVE else {
            watches[socket] = nil
            return
        }
        var readiness: Readiness = []
        if what & CURL_POLL_IN != 0 { readiness.insert(.readable) }
        if what & CURL_POLL_OUT != 0 { readiness.insert(.writable) }
        do throws(SystemError) {
            if let watch = watches[socket] { return try watch.setReadiness(readiness) }
            watches[socket] = try loop.watch(socket, for: readiness) { [unowned self] in act(on: socket, $0.mask) }
        } catch {
            Log("transfers").error("\(error.description); a transfer stands still until its server hangs up")
        }
    }

    private func act(on socket: Int32, _ mask: Int32) {
        var running: Int32 = 0
        curl_multi_socket_action(multi, socket, mask, &running)
        var code = CURLE_OK
        while let owner = wake_multi_ended(multi, &code) {
            Unmanaged<HTTPExchange>.fromOpaque(owner).takeUnretainedValue().end(code)
        }
    }
}

extension Readiness {
    fileprivate var mask: Int32 {
        (contains(.readable) ? CURL_CSELECT_IN : 0) | (contains(.writable) ? CURL_CSELECT_OUT : 0)
            | (isDisjoint(with: [.failure, .hangup]) ? 0 : CURL_CSELECT_ERR)
    }
}
