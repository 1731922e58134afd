// `keys.json5`: the keys with which devices encrypt their broadcasts, by address. No key is ever shown.
import WakeModel

public struct DeviceKeys: Sendable, CustomStringConvertible, CustomReflectable {
    /// By address in capital letters.
    private var keys: [String: [UInt8]] = [:]

    /// Has no keys.
    public init() {}

    /// - Parameter mode: the permissions of the file; only its owner may read it.
    public init(_ text: [UInt8], file: String, mode: UInt32) throws(ConfigurationErrors) {
        let report = ConfigurationReport(file: file)
        if mode & 0o777 != 0o600 {
            let found = String(mode & 0o777, radix: 8)
            report.add("the file has mode 0\(found), and other users must not read keys; run 'chmod 600 \(file)'")
            try report.conclude()
        }
        read(text, report)
        do throws(ConfigurationErrors) { try report.conclude() } catch { throw error.located(in: text) }
    }

    private mutating func read(_ text: [UInt8], _ report: ConfigurationReport) {
        guard text.count <= ConfigurationObject.largestFile else {
            return report.add("the file is larger than 1 MiB; this is no list of keys")
        }
        let value: JSONValue
        do throws(JSONValue.Fault) { value = try JSONValue(json5: text) } catch {
            // The reason may quote the text there, which may be a key.
            let line = text[..<min(error.offset, text.count)].count { $0 == UInt8(ascii: "\n") } + 1
            return report.add(
                "line \(line): the file cannot be read from here on; it is JSON5: { \"ADDRESS\": \"key\" }")
        }
        guard case .object(let members) = value else {
            return report.add("the file is no object; write { \"ADDRESS\": \"key\" }")
        }
        for member in members { add(member, report) }
    }

    private mutating func add(_ member: JSONValue.Member, _ report: ConfigurationReport) {
        let address = member.name.uppercased()
        let place = ConfigurationPath.key(member.name)
        guard Self.isAddress(address) else {
            return report.add(
                "\"\(member.name)\" is no address; write six bytes such as \"A4:C1:38:0A:0B:0C\"", at: place)
        }
        guard case .string(let text) = member.value, let key = [UInt8](hexadecimal: text), (12...32).contains(key.count)
        else {
            return report.add(
                "the key of \(member.name) is not 12 to 32 bytes in hexadecimal; copy it again", at: place)
        }
        if keys.updateValue(key, forKey: address) != nil {
            report.add("\(member.name) has two keys; keep one", at: place)
        }
    }

    private static func isAddress(_ text: String) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 6 && parts.allSatisfy { $0.utf8.count == 2 && [UInt8](hexadecimal: $0) != nil }
    }

    /// The key for the address as it is written, in either case.
    public func key(of address: String) -> [UInt8]? { keys[address.uppercased()] }

    public var isEmpty: Bool { keys.isEmpty }
    public var description: String { keys.count.counted("key") }
    /// Without its contents: a dump is no place for keys.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
