// A serial line's settings in C's form, and where the driver deviates from them.
import CLinux
import WakeModel

/// A setting of a serial line that its driver did not accept.
public struct LineDeviation: Hashable, Sendable {
    /// `baud`, `data bits`, `parity`, `stop bits`, `flow`, `DTR` or `RTS`.
    public let setting: String
    public let asked: String
    public let has: String

    static func between(_ asked: clinux_line, _ found: clinux_line) -> [LineDeviation] {
        var deviations: [LineDeviation] = []
        func compare(_ setting: String, _ part: (clinux_line) -> String) {
            let (asked, has) = (part(asked), part(found))
            if asked != has { deviations.append(LineDeviation(setting: setting, asked: asked, has: has)) }
        }
        if !isSameSpeed(asked.baud, found.baud) { compare("baud") { String($0.baud) } }
        compare("data bits") { String($0.data_bits) }
        compare("parity") { name(of: $0.parity) }
        compare("stop bits") { String($0.stop_bits) }
        compare("flow") { name(of: $0.flow) }
        return deviations
    }

    /// A divided clock seldom hits a speed exactly; within 3 % the other side still reads every bit.
    static func isSameSpeed(_ asked: UInt32, _ found: UInt32) -> Bool {
        abs(Int(asked) - Int(found)) * 100 <= Int(asked) * 3
    }

    private static func name(of letter: CChar) -> String {
        switch UInt8(bitPattern: letter) {
        case UInt8(ascii: "e"): "even"
        case UInt8(ascii: "o"): "odd"
        case UInt8(ascii: "h"): "hardware"
        case UInt8(ascii: "s"): "software"
        case UInt8(ascii: "b"): "hardware and software"
        default: "none"
        }
    }
}

extension LineDeviation: CustomStringConvertible {
    /// `baud is 9600, not 3000000`.
    public var description: String { "\(setting) is \(has), not \(asked)" }
}

extension clinux_line {
    /// Nil where a number is out of range. Speed 0 would hang up the line.
    init?(_ line: LineSettings) {
        guard let baud = UInt32(exactly: line.baud), baud > 0, 5...8 ~= line.dataBits, 1...2 ~= line.stopBits else {
            return nil
        }
        self.init(
            baud: baud, data_bits: UInt8(line.dataBits), stop_bits: UInt8(line.stopBits),
            parity: Self.letter(line.parity.rawValue), flow: Self.letter(line.flow.rawValue),
            hangs_up: line.dtr == .low)
    }

    private static func letter(_ name: String) -> CChar { name.utf8.first.map { CChar(bitPattern: $0) } ?? 0 }
}
