// A text quoted as one word for a shell, for commands that messages tell you to run.

extension String {
    /// The text as one shell word: a peripheral's name must not become a command.
    public var asShellWord: String {
        let isPlain = !isEmpty && utf8.allSatisfy(Self.isPlain)
        return isPlain ? self : "'" + replacing("'", with: "'\\''") + "'"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: ":"), UInt8(ascii: "/"):
            true
        default: false
        }
    }
}
