// The registry as text: one line of JSON a source, which people can read, and mend.
import WakeModel

extension AccessoryRegistry {
    /// Sorted by source.
    public var lines: [String] {
        entries.sorted { $0.key < $1.key }.map { source, entry in
            var writer = JSONWriter()
            writer.beginObject()
            writer.field("source", source)
            writer.field("vendor", entry.vendor)
            writer.field("product", entry.product)
            if let serial = entry.serial { writer.field("serial", serial) }
            if let interface = entry.interface { writer.field("interface", interface) }
            writer.key("ports" as StaticString)
            writer.beginArray()
            for port in entry.ports { writer.string(port) }
            writer.endArray()
            if entry.hasMoved { writer.field("moved", true) }
            if let name = entry.name { writer.field("name", name) }
            writer.endObject()
            return String(decoding: writer.bytes, as: UTF8.self)
        }
    }

    /// What was written by `lines`. A line that cannot be read is left out, and told in a sentence in `complaints`.
    public init(lines: [String], complaints: inout [String]) {
        self.init()
        for (number, line) in lines.enumerated() where line.contains(where: { !$0.isWhitespace }) {
            do throws(Unreadable) {
                try add(line: Array(line.utf8))
            } catch {
                complaints.append("line \(number + 1) of the known accessories was left out: \(error.reason)")
            }
        }
    }

    private struct Unreadable: Error { var reason: String }

    private mutating func add(line: [UInt8]) throws(Unreadable) {
        let value: JSONValue
        do throws(JSONValue.Fault) { value = try JSONValue(parsing: line) } catch {
            throw Unreadable(reason: error.description)
        }
        guard let source = value["source"]?.string, source.hasPrefix("/accessory/") else {
            throw Unreadable(reason: "it has no source that begins with /accessory/")
        }
        guard entries[source] == nil else { throw Unreadable(reason: "an earlier line tells of \(source) already") }
        guard let vendor = value["vendor"]?.string, let product = value["product"]?.string,
            let ports = value["ports"]?.array?.map(\.string), !ports.contains(nil)
        else { throw Unreadable(reason: "\(source) needs vendor, product and ports") }
        entries[source] = Entry(
            vendor: vendor, product: product, serial: value["serial"]?.string, interface: value["interface"]?.string,
            ports: ports.compactMap(\.self).suffix(Self.mostPorts), hasMoved: value["moved"]?.boolean ?? false,
            name: value["name"]?.string)
    }
}
