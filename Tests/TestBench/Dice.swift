// Chance that can be had again: the numbers behind random walks, generated traces and tortures.

/// SplitMix64: the same seed walks the same way everywhere.
package struct Dice: RandomNumberGenerator {
    private var state: UInt64

    package init(_ seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    package mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
    package mutating func isOne(in chances: Int) -> Bool { below(chances) == 0 }
}
