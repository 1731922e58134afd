// A profile to begin with, from a device's recorded facts: its services, channels, and the changes in messages.
import WakeModel
import WakeProfiles
import WakeTrace

public struct ProfileDraft {
    private let kind: SourceKind
    private let services: [BluetoothUUID]
    private let name: String?
    private let properties: [(key: String, value: String)]
    private var messages: [Channel: [[UInt8]]] = [:]
    private var broadcasts: [AdvertisementPart: [[UInt8]]] = [:]

    /// Services of every device: its name, its maker, its battery.
    private static let common = Set([0x1800, 0x1801, 0x180a, 0x180f].map { BluetoothUUID(short: $0) })
    /// More messages of one channel would show the same again.
    private static let mostMessages = 1_000

    /// - Parameter device: its place in the header; the first one where nil.
    /// - Throws: where the text is no trace.
    public init?(ofTrace text: [UInt8], device place: Int = 0) throws(TraceError) {
        var reader = TraceReader(bytes: text)
        let devices = try reader.header().devices
        guard devices.indices.contains(place) else { return nil }
        let device = devices[place]
        kind = device.kind
        services = device.services
        name = device.name
        properties = device.properties
        while let operation = try reader.next() {
            guard case .device(place, .data(let channel, let bytes)) = operation.subject else { continue }
            add(bytes, channel)
        }
    }

    private mutating func add(_ bytes: [UInt8], _ channel: Channel) {
        switch channel {
        case .fragment: return
        case .advertisement:
            for (part, data) in AdvertisementPart.parts(of: bytes)
            where broadcasts[part, default: []].count < Self.mostMessages {
                broadcasts[part, default: []].append(data)
            }
        case .characteristic, .report, .stream:
            if messages[channel, default: []].count < Self.mostMessages { messages[channel, default: []].append(bytes) }
        }
    }

    /// The file, with what was seen as comments.
    /// - Parameters:
    ///   - name: of its folder.
    ///   - known: names of characteristics from shared definitions, by UUID.
    public func text(named name: String, known: [BluetoothUUID: String]) -> String {
        let body = kind == .externalAccessory ? accessory : peripheral(known)
        return """
            // The profile \(name), drafted from the device's messages: put names, units and scales in place of the numbers.
            // 'wakebridge profile check' shows its faults; Devices/example explains every key.
            {
              name: "\(name)",
              title: "\(name)",
              mode: "\(kind.rawValue)",
              match: { \(match) },
            \(body.map { $0.isEmpty ? "" : "  \($0)" }.joined(separator: "\n"))
            }

            """
    }

    private var match: String {
        if kind == .externalAccessory {
            let telling = properties.filter {
                ["ID_VENDOR_ID", "ID_MODEL_ID", "ID_USB_INTERFACE_NUM"].contains($0.key)
            }
            let list = (telling.isEmpty ? properties : telling).map { "\($0.key): \(quoted($0.value))" }
            return "properties: { \(list.joined(separator: ", ")) }"
        }
        let own = services.filter { !Self.common.contains($0) }.map { quoted($0.description) }
        if !own.isEmpty { return "services: [\(own.joined(separator: ", "))]" }
        if let part = parts.first {
            let starts = Self.constantStart(of: broadcasts[part] ?? [])
            return "broadcast: [{ \(part.matchKey)\(starts.isEmpty ? "" : ", starts: \(quoted(starts.hexadecimal))") }]"
        }
        return "name_prefix: \(quoted(name ?? "?"))"
    }

    private static func constantStart(of messages: [[UInt8]]) -> [UInt8] {
        guard messages.count > 1, let first = messages.first else { return [] }
        return Array(
            first.indices.prefix { place in messages.allSatisfy { $0.count > place && $0[place] == first[place] } }.map
            { first[$0] }.prefix(4))
    }

    private var parts: [AdvertisementPart] { broadcasts.keys.sorted { $0.matchKey < $1.matchKey } }
    private var channels: [Channel] { messages.keys.sorted { $0.wireName.text < $1.wireName.text } }

    private func peripheral(_ known: [BluetoothUUID: String]) -> [String] {
        let uuids = channels.compactMap { channel -> BluetoothUUID? in
            if case .characteristic(let name) = channel, name.number == 1 { name.uuid } else { nil }
        }
        var lines: [String] = []
        if !uuids.isEmpty {
            lines.append("notify: [\(uuids.map { quoted($0.description) }.joined(separator: ", "))],")
            lines.append("characteristics: {")
            for uuid in uuids {
                if let name = known[uuid] {
                    lines.append("  // \(uuid): \(name), as Devices/gatt/\(uuid).json5 says it")
                } else {
                    lines += entry(
                        quoted(uuid.description), named: "value_\(uuid.description.prefix(8))",
                        messages[.characteristic(uuid)] ?? [])
                }
            }
            lines.append("},")
        }
        return lines + advertisement
    }

    private var advertisement: [String] {
        guard !parts.isEmpty else { return [] }
        var lines = ["advertisement: {"]
        for (key, isThis) in [("service_data", true), ("manufacturer_data", false)] {
            let own = parts.filter { $0.isServiceData == isThis }
            guard !own.isEmpty else { continue }
            lines.append("  \(key): {")
            for part in own {
                lines += entry(quoted(part.number), named: nil, broadcasts[part] ?? []).map { "  \($0)" }
            }
            lines.append("  },")
        }
        return lines + ["},"]
    }

    private var accessory: [String] {
        let node =
            channels.contains(.serial)
            ? "serial" : channels.contains(.input) ? "input" : channels.isEmpty ? "none" : "hid"
        var lines = ["node: \"\(node)\","]
        if node == "serial" {
            lines.append("framing: { kind: \"line\" },  // see the framings in Devices/example-accessory")
        }
        guard !channels.isEmpty else { return lines }
        lines.append("streams: {")
        for channel in channels {
            let stream = channel.wireName.text
            // A report begins with its number, and input events have a form of their own.
            lines +=
                channel == .input
                ? ["  input: { name: \"events\" },"]
                : entry(quoted(stream), named: stream.identifier, messages[channel] ?? [])
        }
        return lines + ["},"]
    }

    /// - Parameter name: nil for a part of a broadcast, which has none.
    private func entry(_ key: String, named name: String?, _ messages: [[UInt8]]) -> [String] {
        guard let draft = ChannelDraft(messages) else { return [] }
        let head = "  \(key): {  // \(draft.count.counted("message"))"
        let fields = draft.lines.map { "      \($0)" }
        return [head] + (name.map { ["    name: \"\($0)\","] } ?? []) + ["    fields: ["] + fields + ["    ],", "  },"]
    }
}

private func quoted(_ text: String) -> String {
    var writer = JSONWriter()
    writer.value(.string(text))
    return String(decoding: writer.bytes, as: UTF8.self)
}

extension String {
    /// As a name of a value: `report-1` is `report_1`.
    fileprivate var identifier: String { String(map { $0 == "-" ? "_" : $0 }) }
}

extension AdvertisementPart {
    fileprivate var isServiceData: Bool { if case .serviceData = self { true } else { false } }

    /// As a profile names it.
    fileprivate var number: String {
        switch self {
        case .serviceData(let uuid): uuid.description
        case .manufacturerData(let company): [UInt8(company >> 8), UInt8(company & 255)].hexadecimal
        case .anyManufacturerData: "any"
        }
    }

    fileprivate var matchKey: String { isServiceData ? "service_data: \"\(number)\"" : "company: \"\(number)\"" }
}
