// Hides in a report what identifies a machine's devices, and what a setting keeps secret.
import WakeModel

/// Keeps the maker of a device, which is the first half of its address.
struct ReportMask {
    private let addresses: Set<String>
    /// The longest first: one may be the beginning of another.
    private let serials: [String]

    /// - Parameter texts: everything that the report may contain about devices.
    init(of texts: [String]) {
        addresses = Set(texts.flatMap { Self.addresses(in: Array($0)) })
        serials = Set(texts.flatMap(Self.serials)).sorted { ($1.count, $0) < ($0.count, $1) }
    }

    func masked(_ text: String) -> String {
        var masked = text
        for address in addresses {
            let separator = address.dropFirst(2).first.map(String.init) ?? ":"
            masked = masked.replacing(
                address, with: address.prefix(9) + ["xx", "xx", "xx"].joined(separator: separator))
            // The name that a profile gives a device ends in four digits of its address.
            let digits = address.filter(\.isHexDigit).suffix(4).lowercased()
            masked = masked.replacing("-" + digits, with: "-xxxx")
        }
        for serial in serials { masked = masked.replacing(serial, with: "<serial>") }
        return masked.replacing(#/:\/\/[^\/\s@"]+@/#, with: "://<hidden>@")
    }

    /// `C0:F1:F2:F3:F4:01`, also with the dashes and underscores of bluetoothd.
    private static func addresses(in text: [Character]) -> [String] {
        guard text.count >= 17 else { return [] }
        return (0...(text.count - 17)).compactMap { start in
            let separator = text[start + 2]
            guard ":-_".contains(separator) else { return nil }
            let piece = text[start..<(start + 17)]
            let isAddress = piece.enumerated().allSatisfy { $0 % 3 == 2 ? $1 == separator : $1.isHexDigit }
            return isAddress ? String(piece) : nil
        }
    }

    /// The third part of `/accessory/2341:0043:75833353035:00`; a port in its place begins with `@` and is no secret.
    private static func serials(in text: String) -> [String] {
        text.split(separator: "/accessory/", omittingEmptySubsequences: false).dropFirst().compactMap { rest in
            let parts = rest.prefix { !" \n\t\"'),;".contains($0) }.split(
                separator: ":", omittingEmptySubsequences: false)
            guard parts.count >= 3, parts[2].count >= 4, parts[2].first != "@" else { return nil }
            return String(parts[2])
        }
    }
}

extension String {
    /// A handler's last output may contain anything, and its log is only in the report where you ask for logs.
    mutating func hideLastWords() {
        self = replacing(#/it said last: .*/#, with: "it said last: <hidden; --logs shows it>")
    }

    /// Without the colours that a terminal would show.
    var withoutStyle: String {
        let parts = split(separator: "\u{1b}[", omittingEmptySubsequences: false)
        return parts[0] + parts.dropFirst().map { $0.drop { $0 != "m" }.dropFirst() }.joined()
    }
}

extension JSONValue {
    /// A line for each setting, `web.listen: "127.0.0.1:8787"`; of one that may be a secret, no value.
    func settingLines(below path: String = "") -> [String] {
        if case .array(let items) = self, items.contains(where: \.hasMembers) {
            return items.enumerated().flatMap { $1.settingLines(below: "\(path)[\($0)]") }
        }
        guard case .object(let members) = self else {
            var writer = JSONWriter()
            writer.value(self)
            return ["\(path): \(String(decoding: writer.bytes, as: UTF8.self))"]
        }
        return members.flatMap { member in
            let place = path.isEmpty ? member.name : "\(path).\(member.name)"
            let isSecret = Self.secretWords.contains { member.name.lowercased().contains($0) }
            return isSecret ? ["\(place): <hidden>"] : member.value.settingLines(below: place)
        }
    }

    /// It is an object, or a list that holds one.
    private var hasMembers: Bool {
        switch self {
        case .object: true
        case .array(let items): items.contains(where: \.hasMembers)
        default: false
        }
    }

    private static let secretWords = ["pass", "pwd", "secret", "token", "key", "credential", "auth", "user", "ntfy"]
}
