// A trace as a table of decoded values: a JSON object a line, or CSV with a row for each field.
import WakeModel

struct ValueExport {
    enum Form: String, CaseIterable {
        case csv, ndjson
    }

    private static let columns = ["time", "device", "alias", "channel", "field", "value"]

    let form: Form
    private(set) var values = 0

    init(_ form: Form) { self.form = form }

    /// The bytes before the first value.
    var header: [UInt8] { form == .csv ? Self.row(Self.columns) : [] }

    /// Turns event lines into rows: those of values of devices, and nothing for others.
    mutating func rows(of events: [UInt8]) -> [UInt8] {
        events.split(separator: UInt8(ascii: "\n")).flatMap { rows(ofLine: $0) }
    }

    private mutating func rows(ofLine event: ArraySlice<UInt8>) -> [UInt8] {
        guard let line = try? JSONValue(parsing: event), line["type"]?.string == "wakebridge.device.data",
            let data = line["data"], let time = line["time"]?.string, let source = line["source"]?.string
        else { return [] }
        values += 1
        let channel = data["characteristic"]?.string ?? data["stream"]?.string ?? ""
        let start = [time, source, line["subject"]?.string ?? "", channel]
        switch form {
        case .csv:
            let fields = data["value"].map { Self.fields(of: $0, named: "") } ?? [("raw", data["raw"]?.string ?? "")]
            return fields.flatMap { Self.row(start + [$0.0, $0.1]) }
        case .ndjson: return Self.object(start, data)
        }
    }

    private static func object(_ start: [String], _ data: JSONValue) -> [UInt8] {
        JSONWriter.line { writer in
            writer.field("time", start[0])
            writer.field("device", start[1])
            if !start[2].isEmpty { writer.field("alias", start[2]) }
            writer.field("channel", start[3])
            writer.field("profile", data["profile"]?.string)
            if let value = data["value"] {
                writer.key("value")
                writer.value(value)
            }
            writer.field("raw", data["raw"]?.string)
        }
    }

    /// Names the fields of one inside another by both: `battery.percent`, `rr_s.0`.
    private static func fields(of value: JSONValue, named name: String) -> [(String, String)] {
        func inside(_ part: String) -> String { name.isEmpty ? part : "\(name).\(part)" }
        switch value {
        case .object(let members): return members.flatMap { fields(of: $0.value, named: inside($0.name)) }
        case .array(let values):
            return values.enumerated().flatMap { fields(of: $0.element, named: inside("\($0.offset)")) }
        case .null: return [(name, "")]
        case .boolean(let flag): return [(name, flag ? "true" : "false")]
        case .integer(let number): return [(name, "\(number)")]
        case .number(let number): return [(name, "\(number)")]
        case .string(let text): return [(name, text)]
        }
    }

    /// RFC 4180: quotation marks around what holds a comma, a mark or an end of line.
    private static func row(_ cells: [String]) -> [UInt8] {
        let written = cells.map { cell in
            let isPlain = !cell.unicodeScalars.contains { ",\"\r\n".unicodeScalars.contains($0) }
            return isPlain
                ? cell
                : "\"" + cell.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
        }
        return Array((written.joined(separator: ",") + "\r\n").utf8)
    }
}
