// The books of a simulated peripheral: what it said and when, what was raised, and whether the two agree.
import WakeModel

@testable import WakeSources

struct LinkAccounts {
    struct Word {
        var at: WallTime
        var channel: CharacteristicName
        /// Bluetoothd passed it on while the link was open.
        var wasPassedOn: Bool
        /// It is to be raised or told of.
        var isOwed: Bool
        var timesRaised = 0
    }

    private(set) var words: [Word] = []
    /// Something was passed on and is not raised yet.
    var isAwaited: Bool { words.contains { $0.wasPassedOn && $0.timesRaised == 0 } }
    private(set) var complaints: [String] = []
    private var gaps: [Gap] = []
    private(set) var isConnected = false
    /// Its services are resolved anew: one gap comes before what is heard then.
    private var isRenewed = false
    private var lastConnected: WallTime?
    /// When listening ended last.
    private var lastDisconnected: WallTime?
    private var lastRaised: [CharacteristicName: Int] = [:]
    private(set) var inFlight: Set<LinkRequest> = []
    private(set) var connects = 0
    /// Those that were told not to be heard, and have not been since.
    private(set) var reportedUnsubscribed: Set<CharacteristicName> = []
    private(set) var warnings = 0

    /// Numbers a word: the number is what it says.
    mutating func say(on channel: CharacteristicName, at: WallTime, wasPassedOn: Bool, isOwed: Bool) -> [UInt8] {
        words.append(Word(at: at, channel: channel, wasPassedOn: wasPassedOn, isOwed: isOwed))
        let number = words.count - 1
        return [UInt8(number & 255), UInt8(number >> 8)]
    }

    /// - Parameter time: when it is told to have come, where that was earlier.
    mutating func raise(_ kind: DeviceEvent.Kind, at now: WallTime, from time: WallTime? = nil) {
        switch kind {
        case .connected:
            if isConnected { complain("connected twice", now) }
            isConnected = true
            connects += 1
            lastConnected = now
        case .disconnected:
            if !isConnected { complain("disconnected though it was not connected", now) }
            (isConnected, isRenewed) = (false, false)
            lastDisconnected = now
        case .data(.characteristic(let uuid), let bytes): hear(uuid, bytes, now, time)
        case .gap(let gap):
            if gap.cause != .link || gap.from > gap.to || gap.to > now { complain("a wrong gap", now) }
            if isConnected, !isRenewed, reportedUnsubscribed.isEmpty { complain("a gap though all is heard", now) }
            if isConnected, isRenewed { lastConnected = now }
            isRenewed = false
            if !isConnected, let end = lastDisconnected, gap.from > end {
                complain("a gap that begins after listening ended", now)
            }
            gaps.append(gap)
        case .attention(.accessDenied, let detail):
            warnings += 1
            for uuid in [heart, battery] where detail.contains("\(uuid)") { reportedUnsubscribed.insert(uuid) }
        case .data, .attention, .occasion: break
        }
    }

    private mutating func hear(_ uuid: CharacteristicName, _ bytes: [UInt8], _ now: WallTime, _ time: WallTime?) {
        let number = bytes.count == 2 ? Int(bytes[0]) | Int(bytes[1]) << 8 : -1
        guard words.indices.contains(number), words[number].channel == uuid else {
            return complain("raised what was never said", now)
        }
        if !isConnected { complain("data outside a connection", now) }
        if let time, time != words[number].at { complain("word \(number) told with another time than its own", now) }
        if number <= lastRaised[uuid] ?? -1 { complain("word \(number) out of order", now) }
        lastRaised[uuid] = number
        words[number].timesRaised += 1
    }

    mutating func renew() { isRenewed = isConnected }

    mutating func prove(_ uuid: CharacteristicName) { reportedUnsubscribed.remove(uuid) }

    mutating func ask(_ request: LinkRequest, at now: WallTime) {
        if !inFlight.insert(request).inserted { complain("\(request) twice in flight", now) }
    }
    mutating func answer(_ request: LinkRequest) { inFlight.remove(request) }

    mutating func complain(_ text: String, _ now: WallTime) { complaints.append("\(now.microseconds): \(text)") }

    /// Every word was raised once, or lies in one gap. What came after the last `connected` is not owed a gap yet.
    mutating func close() {
        for (number, word) in words.enumerated() {
            let touched = gaps.filter { $0.from <= word.at && word.at <= $0.to }.count
            let within = gaps.filter { $0.from < word.at && word.at < $0.to }.count
            if word.wasPassedOn, word.timesRaised != 1 {
                complain("word \(number) was passed on and raised \(word.timesRaised) times", word.at)
            }
            if word.timesRaised > 0, within > 1 {
                complain("word \(number) was raised and lies in \(within) gaps", word.at)
            }
            if word.isOwed, word.timesRaised == 0, word.at < lastConnected ?? word.at, touched != 1 {
                complain("word \(number) was not raised and lies in \(touched) gaps", word.at)
            }
        }
    }
}
