// What text may be where people read it: what a name may hold, what would mislead, and what the kernel puts around it.

extension Unicode.Scalar {
    /// Control characters, and those that turn the direction of writing: text with them steers a terminal, or looks like
    /// other text.
    public var isMisleading: Bool {
        switch value {
        case 0..<0x20, 0x7f...0x9f, 0x200e...0x200f, 0x2028...0x202e, 0x2066...0x2069: true
        default: false
        }
    }
}

extension String {
    /// What people may call a device. Names end up in events, tables and file names of others: 1 to 64 bytes, nothing that
    /// misleads, no `/` at the beginning and no space at either end.
    public var isPlainName: Bool {
        !isEmpty && utf8.count <= 64 && !unicodeScalars.contains(where: \.isMisleading) && first != "/" && first != " "
            && last != " "
    }

    /// Without the quotes that the kernel puts around names of input devices.
    public var unquoted: String {
        count > 1 && first == "\"" && last == "\"" ? String(dropFirst().dropLast()) : self
    }
}
