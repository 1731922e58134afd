// Attributes of netlink (netlink(7)), which follow the fixed part of a message of the kernel.

extension ArraySlice<UInt8> {
    /// By their kinds: each has a length and a kind of two bytes, and is aligned to four. An attribute that does not
    /// fit ends them.
    var netlinkAttributes: [UInt64: ArraySlice<UInt8>] {
        var attributes: [UInt64: ArraySlice<UInt8>] = [:]
        var rest = self
        while rest.count >= 4 {
            let length = Int(rest.littleEndian(at: 0, size: 2))
            guard length >= 4, length <= rest.count else { break }
            attributes[rest.littleEndian(at: 2, size: 2) & 0x3fff] = rest.prefix(length).dropFirst(4)
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return attributes
    }
}
