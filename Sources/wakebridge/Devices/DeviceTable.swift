// The one table of devices, whichever verb shows it, and the reasons below it.
import WakeModel

struct DeviceTable {
    let devices: [KnownDevice]

    var text: String {
        let columns = Column.allCases.filter { column in column.isAlwaysShown || devices.contains { column.knows($0) } }
        let table = Table(
            head: columns.map(\.rawValue), rows: devices.map { device in columns.map { $0.cell(device) } },
            numeric: Set(columns.indices.filter { !columns[$0].isAlwaysShown }))
        return table.text + BlockingReasons(devices.map { ($0.alias.oneCell, $0.why?.printable ?? "") }).text
    }

    private enum Column: String, CaseIterable {
        case device = "DEVICE"
        case address = "ADDRESS"
        case profile = "PROFILE"
        case state = "STATE"
        case battery = "BATTERY"
        case signal = "SIGNAL"
        case lastData = "LAST DATA"

        /// The columns of figures, which bluetoothd alone knows, are left out where they would be empty for all of them.
        var isAlwaysShown: Bool {
            switch self {
            case .battery, .signal: false
            case .device, .address, .profile, .state, .lastData: true
            }
        }

        func knows(_ device: KnownDevice) -> Bool { cell(device) != Self.unknown }

        func cell(_ device: KnownDevice) -> String {
            switch self {
            case .device: device.alias.oneCell
            case .address: device.place.oneCell
            case .profile: device.profile?.oneCell ?? Self.unknown
            case .state: device.fullState
            case .battery: device.neighbour?.peripheral.battery.map { "\($0) %" } ?? Self.unknown
            case .signal: device.neighbour?.signal.map { "\($0) dBm" } ?? Self.unknown
            case .lastData: device.told?.lastData.map { spokenSecond($0) } ?? Self.unknown
            }
        }

        private static let unknown = "-"
    }
}

/// The present devices that no handler watches, each with what it misses, besides those of a table.
struct UnwatchedDevices {
    let rows: [JSONValue]

    init(_ answer: JSONValue, besides known: [KnownDevice]) {
        let sources = Set(known.map(\.source))
        rows = answer.list("unwatched").filter { !sources.contains($0["source"]?.string ?? "") }
    }

    var isEmpty: Bool { rows.isEmpty }

    /// A line for each.
    var text: String { Table(rows: rows.map { [$0.text("alias").oneCell, $0.text("why").printable] }).text }
}

/// The reasons why devices are not connected, below their table; nothing where there are none.
struct BlockingReasons {
    let text: String

    init(_ reasons: [(alias: String, why: String)]) {
        let rows = reasons.filter { !$0.why.isEmpty }.map { ["  " + $0.alias, $0.why] }
        text = rows.isEmpty ? "" : "\n" + Table(rows: rows).text
    }
}
