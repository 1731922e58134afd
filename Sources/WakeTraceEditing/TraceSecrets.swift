// The secrets of a trace: finds them in its header and on the way, and removes them from texts and messages.
import WakeModel
import WakeTrace

struct TraceSecrets {
    let terms: TraceMask.Terms
    private var standIns: StandIns
    /// The secrets that were found.
    private var texts = Substitutions()
    private var messages = Substitutions()
    /// Words that must not stay in any case.
    private var askedTexts = Substitutions()
    private var askedMessages = Substitutions()

    init(of header: TraceHeader, _ terms: TraceMask.Terms) {
        self.terms = terms
        standIns = StandIns(besides: header.devices.compactMap { RadioAddress($0.address) })
        for device in header.devices { learn(device) }
        for word in terms.words { ask(word) }
    }

    var count: Int { standIns.count }

    /// Whether a property names this very device, and no kind of device.
    static func isOfOne(_ key: String) -> Bool {
        key.hasSuffix("SERIAL_SHORT") || key.hasSuffix("UNIQ") || key.hasSuffix("_MAC")
    }

    /// The third part of `2341:0043:75833353035:00`; a port is behind `@` there, and is no secret.
    private static func serial(in identity: String) -> String? {
        let parts = identity.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count >= 3, !parts[2].isEmpty, parts[2].first != "@" else { return nil }
        return String(parts[2])
    }

    // MARK: Secrets of the header

    private mutating func learn(_ device: TraceDevice) {
        if let address = RadioAddress(device.address) {
            learn(address)
        } else if let serial = Self.serial(in: device.address) {
            learn(serial: serial)
        }
        for (key, value) in device.properties where Self.isOfOne(key) { learn(serial: value) }
        if let alias = device.alias { learn(name: alias) }
        if let name = device.name, !terms.keepsNames { learn(name: name) }
    }

    private mutating func learn(_ address: RadioAddress) {
        let standIn = standIns.address(for: address)
        let (real, other) = (Array(address.sent.reversed()), Array(standIn.sent.reversed()))
        // As one number: texts with `:` are found by their form.
        texts.add(Array(real.hexadecimal.utf8), Array(other.hexadecimal.utf8), .anyCase)
        messages.add(Array(real.hexadecimal.utf8), Array(other.hexadecimal.utf8), .anyCase)
        // An import that knows no address makes one of zeros and two bytes, and messages are full of zeros.
        guard address.number > 0xffff else { return }
        messages.add(address.sent, standIn.sent, .exact)
        messages.add(real, other, .exact)
    }

    private mutating func learn(name: String) { learn(name, "device", fromBytes: 1) }

    /// A short one is a number like any other.
    private mutating func learn(serial: String) {
        if let address = RadioAddress(serial) { learn(address) } else { learn(serial, "serial", fromBytes: 4) }
    }

    private mutating func learn(_ secret: String, _ noun: String, fromBytes least: Int) {
        let (real, other) = (Array(secret.utf8), Array(standIns.word(for: secret, noun).utf8))
        if real.count >= least { texts.add(real, other, .wholeWord) }
        if real.count >= 4, real.count == other.count { messages.add(real, other, .anyCase) }
    }

    private mutating func ask(_ word: String) {
        if let address = RadioAddress(word) { return learn(address) }
        let (real, other) = (Array(word.utf8), Array(standIns.word(for: word, "word").utf8))
        askedTexts.add(real, other, .anyCase)
        let filled = real.count == other.count ? other : real.map { _ in UInt8(ascii: "x") }
        askedMessages.add(real, filled, .anyCase)
        // As Windows and USB write texts.
        askedMessages.add(real.flatMap { [$0, 0] }, filled.flatMap { [$0, 0] }, .anyCase)
    }
}

// Texts.
extension TraceSecrets {
    /// Whether it holds a word that must not stay.
    func hasAsked(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return askedTexts.applied(to: bytes) != bytes
    }

    mutating func masked(_ text: String) -> String {
        let bytes = Array(text.utf8)
        let plain = withoutAddresses(bytes)
        let result = askedTexts.applied(to: texts.applied(to: plain))
        return result == bytes ? text : String(decoding: result, as: UTF8.self)
    }

    /// All of it is a name.
    mutating func masked(name: String) -> String {
        let standIn = standIns.word(for: name, "device")
        return withoutAsked(standIn)
    }

    /// All of it is a serial number, or an address in its place.
    mutating func masked(serial: String) -> String {
        guard !serial.isEmpty else { return serial }
        if let address = RadioAddress(serial) { return standIns.address(for: address).description }
        let standIn = standIns.word(for: serial, "serial")
        return withoutAsked(standIn)
    }

    mutating func masked(identity: String) -> String {
        if let address = RadioAddress(identity) { return standIns.address(for: address).description }
        guard let serial = Self.serial(in: identity) else { return masked(identity) }
        var parts = identity.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        parts[2] = masked(serial: serial)
        return withoutAsked(parts.joined(separator: ":"))
    }

    private func withoutAsked(_ text: String) -> String {
        String(decoding: askedTexts.applied(to: Array(text.utf8)), as: UTF8.self)
    }

    /// The text as it was written, if it contains no secret.
    mutating func masked(json text: String) -> String {
        guard let value = try? JSONValue(parsing: text.utf8) else { return masked(text) }
        let found = masked(value, of: "")
        guard found != value else { return text }
        var writer = JSONWriter()
        writer.value(found)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private mutating func masked(_ value: JSONValue, of name: String) -> JSONValue {
        switch value {
        case .null, .boolean, .number: return value
        case .integer(let number): return hasAsked("\(number)") ? .integer(0) : value
        // An alias may be the name of a profile, and a handler is woken by that.
        case .string(let text) where name == "profile": return .string(withoutAsked(text))
        case .string(let text):
            guard name == "raw", let bytes = [UInt8](hexadecimal: text) else { return .string(masked(text)) }
            return .string(masked(bytes).hexadecimal)
        case .array(let values):
            var found: [JSONValue] = []
            for value in values { found.append(masked(value, of: name)) }
            return .array(found)
        case .object(let members):
            var found: [JSONValue.Member] = []
            for member in members {
                let value = masked(member.value, of: member.name)
                found.append(JSONValue.Member(name: withoutAsked(member.name), value: value))
            }
            return .object(found)
        }
    }

    /// `C0:F1:F2:F3:F4:01`, also with the dashes and underscores of bluetoothd, of whichever device it is.
    private mutating func withoutAddresses(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.count >= 17 else { return bytes }
        var (result, place) = (bytes, 0)
        while place + 17 <= bytes.count {
            guard ":-_".utf8.contains(bytes[place + 2]), let address = Self.address(in: bytes, at: place) else {
                place += 1
                continue
            }
            let isLower = bytes[place..<(place + 17)].contains { (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) }
            let text = standIns.address(for: address).description
            for (index, byte) in text.utf8.enumerated() where index % 3 != 2 {
                result[place + index] = isLower ? lowered(byte) : byte
            }
            place += 17
        }
        return result
    }

    private static func address(in bytes: [UInt8], at place: Int) -> RadioAddress? {
        let end = place + 17
        // A further digit makes it something longer.
        if place > 0, digitValue(bytes[place - 1]) != nil { return nil }
        if end < bytes.count, digitValue(bytes[end]) != nil { return nil }
        var number: UInt64 = 0
        for (index, byte) in bytes[place..<end].enumerated() {
            if index % 3 == 2 {
                guard byte == bytes[place + 2] else { return nil }
            } else {
                guard let digit = digitValue(byte) else { return nil }
                number = number << 4 | UInt64(digit)
            }
        }
        return RadioAddress(number: number)
    }
}

// Messages: each keeps its length.
extension TraceSecrets {
    mutating func masked(_ message: [UInt8]) -> [UInt8] {
        let plain = withoutAddresses(message)
        return askedMessages.applied(to: messages.applied(to: plain))
    }

    /// Masks the values of characteristics that identify a device, or its place.
    mutating func masked(_ value: [UInt8], of uuid: BluetoothUUID) -> [UInt8] {
        let found = masked(value)
        switch uuid.short {
        case 0x2a00: return found == value && !terms.keepsNames ? standIn(for: value, "device") : found
        case 0x2a25: return found == value ? standIn(for: value, "serial") : found
        // System ID, which is made of the address; latitude and longitude indoors.
        case 0x2a23, 0x2aae, 0x2aaf: return value.map { _ in 0 }
        case 0x2a67: return Self.withoutLocation(found)
        default: return found
        }
    }

    /// Location and Speed: the flags determine the fields before the location.
    private static func withoutLocation(_ value: [UInt8]) -> [UInt8] {
        guard value.count >= 2, value[0] & 4 != 0 else { return value }
        let start = 2 + (value[0] & 1 == 0 ? 0 : 2) + (value[0] & 2 == 0 ? 0 : 3)
        let length = 8 + (value[0] & 8 == 0 ? 0 : 3)
        return value.enumerated().map { (start..<(start + length)).contains($0) ? 0 : $1 }
    }

    private mutating func standIn(for value: [UInt8], _ noun: String) -> [UInt8] {
        guard !value.isEmpty else { return value }
        let standIn = standIns.word(for: String(decoding: value, as: UTF8.self), noun)
        return Array(withoutAsked(standIn).utf8)
    }

    /// AD structures: names of any device, and addresses that they carry.
    mutating func masked(broadcast: [UInt8]) -> [UInt8] {
        var (found, place) = (masked(broadcast), 0)
        while place + 1 < broadcast.count, broadcast[place] > 0 {
            let body = (place + 2)..<min(broadcast.count, place + 1 + Int(broadcast[place]))
            switch broadcast[place + 1] {
            case 0x08, 0x09: if !terms.keepsNames { hideName(in: body, of: broadcast, &found) }
            case 0x17, 0x18, 0x1b: hideAddresses(in: body, of: broadcast, &found)
            default: break
            }
            place += 1 + Int(broadcast[place])
        }
        return found
    }

    private mutating func hideName(in body: Range<Int>, of broadcast: [UInt8], _ found: inout [UInt8]) {
        guard !body.isEmpty, found[body] == broadcast[body] else { return }
        let name = standIns.word(for: String(decoding: broadcast[body], as: UTF8.self), "device")
        let isAsLong = name.utf8.count == body.count
        found.replaceSubrange(body, with: isAsLong ? Array(name.utf8) : body.map { _ in UInt8(ascii: "x") })
    }

    private mutating func hideAddresses(in body: Range<Int>, of broadcast: [UInt8], _ found: inout [UInt8]) {
        for start in stride(from: body.lowerBound, to: body.upperBound - 5, by: 6) {
            guard let address = RadioAddress(sent: broadcast[start..<(start + 6)]) else { continue }
            found.replaceSubrange(start..<(start + 6), with: standIns.address(for: address).sent)
        }
    }
}
