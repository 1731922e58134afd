// The requests of one link machine that are not answered yet: of each kind at most one, and answers that come too late
// are known as such.

struct LinkRequests: Hashable, Sendable {
    /// The link of each request.
    private var asked: [LinkRequest: UInt64] = [:]
    /// Requests to send when the one of an earlier link is answered.
    private var waiting: Set<LinkRequest> = []
    private var link: UInt64 = 0

    /// True if it is to be sent now; otherwise it follows the one in flight.
    mutating func begin(_ request: LinkRequest) -> Bool {
        guard asked[request] == nil else {
            waiting.insert(request)
            return false
        }
        asked[request] = link
        return true
    }

    enum Answer {
        case valid
        /// It answers a request of an earlier link.
        case late
        /// Late, and now the turn of the one that waits for it.
        case next
    }

    mutating func end(_ request: LinkRequest) -> Answer {
        guard let number = asked.removeValue(forKey: request) else { return .late }
        if waiting.remove(request) != nil {
            asked[request] = link
            return .next
        }
        return number == link || request.outlivesLink ? .valid : .late
    }

    func isAsked(_ request: LinkRequest) -> Bool { asked[request] != nil }

    /// Later answers are for requests on a link that has ended.
    mutating func leaveLink() {
        link += 1
        waiting = []
    }

    /// Bluetoothd is gone and answers none of them.
    mutating func forget() {
        leaveLink()
        asked = [:]
    }
}

extension LinkRequest {
    fileprivate var outlivesLink: Bool {
        switch self {
        case .connect, .disconnect, .cut, .letGo, .block, .unblock, .stopNotify: true
        case .startNotify, .readConfiguration, .read, .ask: false
        }
    }
}
