// Answers that concern all handlers together, counted as handlers change: there may be a thousand of them.
import WakeModel

/// The facts of one handler.
struct HandlerFlags: OptionSet, Sendable {
    let rawValue: UInt8

    static let awake = HandlerFlags(rawValue: 1 << 0)
    static let suspended = HandlerFlags(rawValue: 1 << 1)
    static let unsettled = HandlerFlags(rawValue: 1 << 2)
    static let unreadyForSleep = HandlerFlags(rawValue: 1 << 3)
    static let backedUp = HandlerFlags(rawValue: 1 << 4)
    static let fed = HandlerFlags(rawValue: 1 << 5)
}

struct FlagCounts: Sendable {
    private var flags: [HandlerFlags] = []
    /// How many handlers have each flag.
    private var counts = [Int](repeating: 0, count: UInt8.bitWidth)

    /// True where any handler has this one flag.
    func has(_ flag: HandlerFlags) -> Bool { counts[flag.rawValue.trailingZeroBitCount] > 0 }

    mutating func set(_ now: HandlerFlags, for slot: Int) {
        while flags.count <= slot { flags.append([]) }
        let before = flags[slot]
        guard now != before else { return }
        flags[slot] = now
        var changed = now.rawValue ^ before.rawValue
        while changed != 0 {
            let bit = HandlerFlags(rawValue: changed & ~(changed - 1))
            counts[bit.rawValue.trailingZeroBitCount] += now.contains(bit) ? 1 : -1
            changed &= changed - 1
        }
    }
}
