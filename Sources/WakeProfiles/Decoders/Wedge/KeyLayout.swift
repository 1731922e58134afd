// The characters of a keyboard's keys: their places are numbers of the kernel, their characters those of a layout.

public enum KeyLayout: String, CaseIterable, Hashable, Sendable {
    case us, gb, de, fr

    enum Level: Hashable, Sendable { case plain, shifted, altGr }

    /// Rows of keys, each from its first number on.
    private static let rows: [(first: UInt16, count: Int)] = [
        (2, 12), (16, 12), (30, 11), (41, 1), (43, 1), (44, 10), (86, 1),
    ]

    /// The characters of one level, in the order of the rows.
    private func characters(_ level: Level) -> String {
        switch (self, level) {
        case (.us, .plain): "1234567890-=" + "qwertyuiop[]" + "asdfghjkl;'" + "`" + "\\" + "zxcvbnm,./" + "<"
        case (.us, .shifted): "!@#$%^&*()_+" + "QWERTYUIOP{}" + "ASDFGHJKL:\"" + "~" + "|" + "ZXCVBNM<>?" + ">"
        case (.gb, .plain): "1234567890-=" + "qwertyuiop[]" + "asdfghjkl;'" + "`" + "#" + "zxcvbnm,./" + "\\"
        case (.gb, .shifted): "!\"£$%^&*()_+" + "QWERTYUIOP{}" + "ASDFGHJKL:@" + "¬" + "~" + "ZXCVBNM<>?" + "|"
        case (.de, .plain): "1234567890ß´" + "qwertzuiopü+" + "asdfghjklöä" + "^" + "#" + "yxcvbnm,.-" + "<"
        case (.de, .shifted): "!\"§$%&/()=?`" + "QWERTZUIOPÜ*" + "ASDFGHJKLÖÄ" + "°" + "'" + "YXCVBNM;:_" + ">"
        case (.fr, .plain): "&é\"'(-è_çà)=" + "azertyuiop^$" + "qsdfghjklmù" + "²" + "*" + "wxcvbn,;:!" + "<"
        case (.fr, .shifted): "1234567890°+" + "AZERTYUIOP¨£" + "QSDFGHJKLM%" + "²" + "µ" + "WXCVBN?./§" + ">"
        case (_, .altGr): ""
        }
    }

    private var thirdLevel: [UInt16: Character] {
        switch self {
        case .us: [:]
        case .gb: [5: "€", 41: "¦"]
        case .de:
            [
                3: "²", 4: "³", 8: "{", 9: "[", 10: "]", 11: "}", 12: "\\", 16: "@", 18: "€", 27: "~", 50: "µ",
                86: "|",
            ]
        case .fr:
            [
                3: "~", 4: "#", 5: "{", 6: "[", 7: "|", 8: "`", 9: "\\", 10: "^", 11: "@", 12: "]", 13: "}", 18: "€",
                27: "¤",
            ]
        }
    }

    static let keypadDigits: [UInt16: Character] = [
        71: "7", 72: "8", 73: "9", 75: "4", 76: "5", 77: "6", 79: "1", 80: "2", 81: "3", 82: "0",
    ]
    /// The same in every layout.
    private static let common = keypadDigits.merging(
        [15: "\t", 57: " ", 55: "*", 74: "-", 78: "+", 83: ".", 98: "/"]
    ) { first, _ in first }

    private static let tables: [KeyLayout: [Level: [UInt16: Character]]] = Dictionary(
        uniqueKeysWithValues: allCases.map { layout in
            (
                layout,
                [.plain: layout.table(.plain), .shifted: layout.table(.shifted), .altGr: layout.thirdLevel]
            )
        })

    private func table(_ level: Level) -> [UInt16: Character] {
        var rest = Array(characters(level))[...]
        var table: [UInt16: Character] = [:]
        for row in Self.rows {
            for (index, character) in rest.prefix(row.count).enumerated() {
                table[row.first + UInt16(index)] = character
            }
            rest = rest.dropFirst(row.count)
        }
        return table
    }

    /// Nil for a key without a character. Caps lock reverses the level of letters alone.
    func character(_ code: UInt16, _ level: Level, _ isCapsLocked: Bool) -> Character? {
        if let character = Self.common[code] { return character }
        guard let tables = Self.tables[self] else { return nil }
        guard isCapsLocked, level != .altGr, tables[.plain]?[code]?.isLetter == true else {
            return tables[level]?[code]
        }
        return tables[level == .plain ? .shifted : .plain]?[code]
    }
}
