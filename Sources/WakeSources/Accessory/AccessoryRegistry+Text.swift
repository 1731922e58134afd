// The registry as text: one line of JSON a URI, which people can read and edit.
import WakeModel

extension AccessoryRegistry {
    /// Those that were seen last come last.
    public var lines: [String] {
        entries.map { (seen[$0.key] ?? 0, $0.key, $0.value) }.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map {
            _, uri, entry in
            var writer = JSONWriter()
            writer.beginObject()
            writer.field("source", uri)
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

    /// Adds what a line of ``lines`` says. Returns why the line cannot be read, where it cannot.
    public mutating func add(line: ArraySlice<UInt8>) -> String? {
        do throws(Unreadable) {
            try parse(line)
            return nil
        } catch {
            return error.reason
        }
    }

    private struct Unreadable: Error { var reason: String }

    private mutating func parse(_ line: ArraySlice<UInt8>) throws(Unreadable) {
        let value: JSONValue
        do throws(JSONValue.Fault) { value = try JSONValue(parsing: line) } catch {
            throw Unreadable(reason: error.description)
        }
        guard let uri = value["source"]?.string, uri.hasPrefix("/accessory/") else {
            throw Unreadable(reason: "it has no source that begins with /accessory/")
        }
        guard entries[uri] == nil else { throw Unreadable(reason: "an earlier line tells of \(uri) already") }
        guard let vendor = value["vendor"]?.string, let product = value["product"]?.string,
            let ports = value["ports"]?.array?.map(\.string), !ports.contains(nil)
        else { throw Unreadable(reason: "\(uri) needs vendor, product and ports") }
        let entry = Entry(
            vendor: vendor, product: product, serial: value["serial"]?.string, interface: value["interface"]?.string,
            ports: ports.compactMap(\.self).suffix(Self.mostPorts), hasMoved: value["moved"]?.boolean ?? false,
            name: value["name"]?.string)
        set(entry, for: uri)
    }
}
