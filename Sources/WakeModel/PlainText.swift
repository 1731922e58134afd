// Rules for text that people read: what a name may hold, what could mislead, and the kernel's quotes.

extension Unicode.Scalar {
    /// Control characters, and those that turn the direction of writing. They can steer a terminal, or make text look
    /// like other text.
    public var isMisleading: Bool {
        switch value {
        case 0..<0x20, 0x7f...0x9f, 0x200e...0x200f, 0x2028...0x202e, 0x2066...0x2069: true
        default: false
        }
    }
}

extension String {
    /// Whether a device may have this name: 1 to 64 bytes, nothing misleading, no leading `/`, no space at either end.
    /// Names appear in events, tables and file names.
    public var isPlainName: Bool {
        !isEmpty && utf8.count <= 64 && !unicodeScalars.contains(where: \.isMisleading) && first != "/" && first != " "
            && last != " "
    }

    /// Without the quotes that the kernel puts around names of input devices.
    public var unquoted: String {
        count > 1 && first == "\"" && last == "\"" ? String(dropFirst().dropLast()) : self
    }
}
