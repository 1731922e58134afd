// wakebridge session: opens, pauses or closes a device's session; the daemon keeps that over restarts.
import WakeArguments
import WakeModel

extension Verb {
    static var session: Verb {
        Verb(
            name: "session", summary: "have the session of a device open, paused or closed, also over a reboot",
            synopsis: ["[--json] open|paused|closed DEVICE"],
            detail: """
                Paused, the link stays and nothing is heard. Closed, the link is given up and not brought back, an accessory's
                node is let go, so that the device is free for others. Its handlers are told that it is disconnected. Open
                is what a device is from its pairing on, or from when it was first plugged in; what may have been said
                meanwhile is told as a gap. 'pause' and 'close' mean the same as 'paused' and 'closed'.
                """,
            examples: ["wakebridge session pause chest-strap", "wakebridge session open chest-strap"],
            flags: [jsonFlag] + daemonFlags, operands: [.words("open", "pause", "close", then: .device)]
        ) { words throws(Complaint) in
            let known = LinkSession.allCases.map(\.rawValue)
            guard let word = words.operands.first else { throw .usage("say \(known.joined(separator: ", "))") }
            guard let session = LinkSession(word: word) else {
                throw .usage("a session cannot be '\(word)'.\(suggestion(for: word, among: known))")
            }
            try words.atMost(2)
            guard words.operands.count == 2 else { throw .usage("\(word) needs a DEVICE") }
            let device = words.operands[1]
            let body = object([("device", device), ("session", session.rawValue)])
            return try order(words, "/v1/devices/session", body: body) { answer in
                sentence(answer["device"]?.string?.printable ?? device.printable, session)
            }
        }
    }

    private static func sentence(_ device: String, _ session: LinkSession) -> String {
        switch session {
        case .open: "the session of \(device) is open: it is heard whenever it is there"
        case .paused: "the session of \(device) is paused; 'wakebridge session open \(device)' has it heard again"
        case .closed: "the session of \(device) is closed; 'wakebridge session open \(device)' brings it back"
        }
    }
}
