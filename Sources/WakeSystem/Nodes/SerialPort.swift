// A serial line, opened raw and set by its profile, with any driver: USB adapters, CDC-ACM, UARTs, RFCOMM, a pty.
import CLinux
import Glibc
import WakeModel

/// An open serial line. It is closed, and free for other programs, when its owner releases it.
///
/// **Opening may reset the device.** Linux raises DTR in `open`, before a program can prevent it. Many boards treat the
/// rise as a reset. So that it happens only once, the line is opened once and kept while handlers come and go. Unless
/// DTR is set to low, HUPCL is cleared: DTR then stays up when the port is closed, and the next open raises nothing. A
/// device that reads DTR as "a program is connected" then keeps seeing one.
///
/// **Exclusive** uses two locks. TIOCEXCL refuses every later open, except by programs with CAP_SYS_ADMIN, which means
/// root. So an flock is taken too, which well-behaved programs of root respect. A program that already has the line open
/// keeps it.
public struct SerialPort: ~Copyable, Sendable {
    public let path: String
    /// The settings that the driver did not accept.
    public let deviations: [LineDeviation]
    private let descriptor: FileDescriptor
    private let isExclusive: Bool

    /// The descriptor that the loop watches.
    public var raw: Int32 { descriptor.raw }

    /// Opens the line and sets it. EBUSY if another program has it exclusively, even if this process could open it.
    ///
    /// Discards bytes that came in before: they came at another speed, while the line was not raw, or for another program.
    /// Half a message among them would spoil the first whole one.
    public init(opening path: String, _ line: LineSettings, isExclusive: Bool) throws(SystemError) {
        let opened = try FileDescriptor.openNode(path)
        let claim = Claim(path: path, raw: opened.raw)
        try claim.refuseOthersClaim()
        if isExclusive { try claim.exclude() }
        do throws(SystemError) { deviations = try claim.set(line) } catch {
            if isExclusive { claim.include() }
            throw error
        }
        self.path = path
        self.isExclusive = isExclusive
        descriptor = opened
    }

    /// Unlocks before closing, because a child that started frozen keeps a copy of the descriptor until it is thawed.
    /// Other programs must not wait for that.
    deinit {
        if isExclusive { Claim(path: path, raw: descriptor.raw).include() }
    }

    /// Reads once; a line that hung up is closed.
    public borrowing func read(limit: Int = 4096) throws(SystemError) -> NodeReading<[UInt8]> {
        try descriptor.readNode(path, limit: limit)
    }

    /// Writes once, perhaps fewer bytes than offered; the caller keeps the rest. The kernel sends the written bytes even after
    /// the line is closed, but not after it is unplugged.
    public borrowing func write(_ bytes: ArraySlice<UInt8>) throws(SystemError) -> WriteResult {
        try descriptor.writeNode(bytes, path)
    }

}

/// Prepares a line before it is used, and restores it after.
private struct Claim {
    let path: String
    /// Open for as long as this value is used.
    let raw: Int32

    /// Root can open lines that other programs have exclusively, so this is checked.
    func refuseOthersClaim() throws(SystemError) {
        if try check("open", clinux_line_is_exclusive(raw)) > 0 { throw SystemError.inUse(path) }
    }

    func exclude() throws(SystemError) {
        switch attemptC({ clinux_node_lock(raw) }) {
        case .value: break
        case .failure(.wouldBlock): throw SystemError.inUse(path)
        case .failure(let errno): throw SystemError("lock", path, errno)
        }
        _ = try check("take for itself", clinux_line_exclude(raw))
    }

    func include() {
        _ = clinux_line_include(raw)
        _ = clinux_node_unlock(raw)
    }

    /// Sets the modem lines first: a device that a raised DTR holds in reset must be released soon.
    func set(_ line: LineSettings) throws(SystemError) -> [LineDeviation] {
        let dtr = try setModemLine("DTR", line.dtr, clinux_line_set_dtr)
        let rts = try setModemLine("RTS", line.rts, clinux_line_set_rts)
        let settings = try setSettings(line)
        _ = try check("flush", clinux_line_flush(raw))
        return dtr + rts + settings
    }

    /// A pty has no modem lines, nor have some drivers.
    private func setModemLine(
        _ name: String, _ asked: LineSettings.ModemLine, _ call: (Int32, Bool) -> Int32
    ) throws(SystemError) -> [LineDeviation] {
        guard asked != .untouched else { return [] }
        let code = call(raw, asked == .high)
        guard [-ENOTTY, -EINVAL].contains(code) else {
            _ = try check("set \(name) of", code)
            return []
        }
        return [LineDeviation(setting: name, asked: asked.rawValue, has: "missing")]
    }

    /// Drivers accept what they can; only reading the settings back shows the difference.
    private func setSettings(_ line: LineSettings) throws(SystemError) -> [LineDeviation] {
        guard var asked = clinux_line(line) else {
            throw SystemError("set", path, .invalid, advice: "baud, data bits or stop bits are out of range")
        }
        _ = try check("set", clinux_line_set(raw, &asked))
        var found = asked
        _ = try check("read the settings of", clinux_line_get(raw, &found))
        return LineDeviation.between(asked, found)
    }

    private func check(_ attempted: String, _ code: @autoclosure () -> Int32) throws(SystemError) -> Int {
        try attemptC(code).get(attempted, path) { $0.code == ENOTTY ? "it is no serial line" : nil }
    }
}

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
