// A connection of libmicrohttpd as a value: its request, and its answer. Bytes are copied at once.
import CMicrohttpd
import WakeSystem

/// Valid until the library reports its end.
struct HTTPConnection: Hashable {
    enum Values {
        /// With their names in lower case.
        case headers
        /// The parameters of the query.
        case query
    }

    private let raw: OpaquePointer

    init(_ raw: OpaquePointer) { self.raw = raw }

    /// The socket, which the library owns; -1 where it has closed.
    var descriptor: Int32 { wake_http_connection_descriptor(raw) }

    /// Ends it in both directions; the library notices, and closes it.
    func cut() { NetworkSocket.end(descriptor) }

    func suspend() { wake_http_suspend(raw) }
    func resume() { wake_http_resume(raw) }

    func all(_ values: Values) -> [ControlRequest.Parameter] {
        switch values {
        case .headers: each(true).map { ControlRequest.Parameter($0.name.lowercased(), $0.value) }
        case .query: each(false)
        }
    }

    private func each(_ ofHeaders: Bool) -> [ControlRequest.Parameter] {
        var found: [ControlRequest.Parameter] = []
        withUnsafeMutablePointer(to: &found) { found in
            wake_http_each_value(
                raw, ofHeaders,
                { sink, _, name, value in
                    guard let sink, let name else { return wake_http_verdict(false) }
                    let text = value.map { String(cString: $0) } ?? ""
                    sink.assumingMemoryBound(to: [ControlRequest.Parameter].self).pointee
                        .append(ControlRequest.Parameter(String(cString: name), text))
                    return wake_http_verdict(true)
                }, found)
        }
        return found
    }

    /// False where there is no memory for it; the library closes the connection then.
    func reply(_ content: ControlContent) -> Bool {
        guard let response = wake_http_answer(content.bytes, content.bytes.count) else { return false }
        return send(response, content.status, content.type, content.headers)
    }

    /// Sends what the stream gives, until it ends.
    func stream(_ transmission: Transmission) -> Bool {
        let response = wake_http_stream(
            Unmanaged.passRetained(transmission).toOpaque(),
            { source, _, buffer, room in
                guard let source, let buffer else { return wake_http_end_of_stream() }
                return Unmanaged<Transmission>.fromOpaque(source).takeUnretainedValue().portion(upTo: room).copy(buffer)
            },
            { source in if let source { Unmanaged<Transmission>.fromOpaque(source).release() } })
        guard let response else { return false }
        return send(response, 200, transmission.type, [])
    }

    private func send(
        _ response: OpaquePointer, _ status: Int, _ type: String, _ headers: [ControlContent.Header]
    ) -> Bool {
        wake_http_add_header(response, "Content-Type", type)
        wake_http_add_header(response, "X-Content-Type-Options", "nosniff")
        if !headers.contains(where: { $0.name == "Cache-Control" }) {
            wake_http_add_header(response, "Cache-Control", "no-store")
        }
        for header in headers { wake_http_add_header(response, header.name, header.value) }
        return wake_http_send(raw, UInt32(status), response)
    }
}

extension ControlStream.Portion {
    /// Copies into the library's buffer, which has room for it; returns the library's return value.
    fileprivate func copy(_ buffer: UnsafeMutablePointer<CChar>) -> Int {
        switch self {
        case .bytes(let bytes):
            UnsafeMutableRawPointer(buffer).copyMemory(from: bytes, byteCount: bytes.count)
            return bytes.count
        case .none: return 0
        case .end: return wake_http_end_of_stream()
        }
    }
}
