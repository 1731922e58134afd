// The addresses of what the page watches and does beyond the daemon's state: history, findings, pairing, replay.

extension Endpoint {
    static let watching: [Endpoint] = []
}
