// Advertisements as a controller reports them: legacy and extended reports of one HCI event.
import WakeModel

public struct AdvertisingReport: Hashable, Sendable {
    /// The number of the controller that received it: 0 for `hci0`.
    public var controller: UInt16
    public var address: RadioAddress
    public var isPublic: Bool
    /// dBm; nil where the controller does not know.
    public var signal: Int?
    /// AD structures, in the order sent.
    public var data: [UInt8]

    public init(controller: UInt16, address: RadioAddress, isPublic: Bool, signal: Int?, data: [UInt8]) {
        (self.controller, self.address, self.isPublic) = (controller, address, isPublic)
        (self.signal, self.data) = (signal, data)
    }

    /// The reports in one packet of the monitor channel; none for a packet about something else, or one that is cut
    /// short.
    public static func all(in record: [UInt8]) -> [AdvertisingReport] {
        guard let packet = MonitorPacket(record), packet.opcode == 3, packet.bytes.byte(0) == 0x3e,
            let subevent = packet.bytes.byte(2), let count = packet.bytes.byte(3)
        else { return [] }
        let form: Form
        switch subevent {
        case 0x02: form = .legacy
        case 0x0d: form = .extended
        default: return []
        }
        var rest = packet.bytes.dropFirst(4)
        var reports: [AdvertisingReport] = []
        for _ in 0..<count {
            guard let report = form.next(in: &rest, packet.adapter) else { return reports }
            reports.append(report)
        }
        return reports
    }

    /// LE Advertising Report: type, type of address, address, length, data, signal. The extended form has a type of two bytes,
    /// and eleven bytes between the address and the length: PHYs, set, power, signal, interval, and an address.
    private enum Form {
        case legacy, extended

        func next(in rest: inout ArraySlice<UInt8>, _ controller: UInt16) -> AdvertisingReport? {
            let place = self == .legacy ? 2 : 3
            let head = self == .legacy ? 9 : 24
            guard let kind = rest.byte(place - 1),
                let address = rest.slice(place, 6).flatMap({ RadioAddress(sent: $0) }),
                let length = rest.byte(head - 1).map(Int.init), let data = rest.slice(head, length),
                let level = rest.byte(self == .legacy ? head + length : 13)
            else { return nil }
            rest = rest.dropFirst(head + length + (self == .legacy ? 1 : 0))
            let signal = Int(Int8(bitPattern: level))
            return AdvertisingReport(
                controller: controller, address: address, isPublic: kind & 1 == 0, signal: signal == 127 ? nil : signal,
                data: Array(data))
        }
    }
}
