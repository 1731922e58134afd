// A serial line, opened raw and set as its profile asks, by whatever driver: USB adapters, CDC-ACM, UARTs, RFCOMM, a pty.
import CLinux
import Glibc
import WakeModel

/// An open serial line. It is given back, free for others, when its owner lets go of it.
///
/// **Opening may reset the device.** Linux raises DTR in `open`, before anybody can say that it should not, and many boards
/// take the rise for a reset. So that it happens once only, the line is opened once and kept over the lives of handlers; and
/// unless DTR is asked to be low, HUPCL is taken off, so that DTR stays up when the port is closed and the next opening
/// finds nothing to raise. A device that takes DTR for "somebody is there" then goes on thinking so.
///
/// **Exclusive** is said twice. TIOCEXCL turns away every later opening, except by programs with CAP_SYS_ADMIN, which is to
/// say root; so an flock is taken too, which root's well-behaved programs look at. Who had the line open before keeps it.
public struct SerialPort: ~Copyable, Sendable {
    public let path: String
    /// What was asked of the line and is otherwise, because its driver does not do that.
    public let deviations: [LineDeviation]
    private let descriptor: FileDescriptor
    private let isExclusive: Bool

    /// What the loop watches.
    public var raw: Int32 { descriptor.raw }

    /// Opens the line and sets it. EBUSY where another program has it for itself, whether or not that would stop us.
    ///
    /// What came in before is thrown away: it came at another speed, or while the line was not raw, or to whoever had it
    /// last; it would be taken for the device's first words, and half a message of it spoil a whole one.
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

    /// A child that was born frozen keeps a copy of the descriptor until it is thawed: nobody else is to wait for that.
    deinit {
        if isExclusive { Claim(path: path, raw: descriptor.raw).include() }
    }

    /// Reads once; a line that hung up is closed.
    public borrowing func read(limit: Int = 4096) throws(SystemError) -> NodeReading<[UInt8]> {
        try descriptor.readNode(path, limit: limit)
    }

    /// Writes once, perhaps fewer bytes than are offered: what the device has no room for is the caller's to keep. What is taken
    /// is the kernel's, and is sent also after the line is closed; not after it is unplugged.
    public borrowing func write(_ bytes: ArraySlice<UInt8>) throws(SystemError) -> WriteResult {
        try descriptor.writeNode(bytes, path)
    }

}

/// What is done to a line before it is anybody's, and after.
private struct Claim {
    let path: String
    /// Open for as long as this is used.
    let raw: Int32

    /// Root is let in to lines that others have for themselves; it is not wanted there all the same.
    func refuseOthersClaim() throws(SystemError) {
        if try check("open", clinux_line_is_exclusive(raw)) > 0 { throw SystemError.taken(path) }
    }

    func exclude() throws(SystemError) {
        switch attemptC({ clinux_node_lock(raw) }) {
        case .value: break
        case .failure(.wouldBlock): throw SystemError.taken(path)
        case .failure(let errno): throw SystemError("lock", path, errno)
        }
        _ = try check("take for itself", clinux_line_exclude(raw))
    }

    func include() {
        _ = clinux_line_include(raw)
        _ = clinux_node_unlock(raw)
    }

    /// The modem lines first: a device that a risen DTR holds in reset is to be let go soon.
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

    /// Drivers take what they can, and say so only to those who read the settings back.
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
        switch attemptC(code) {
        case .value(let value): return value
        case .failure(let errno) where errno.code == ENOTTY:
            throw SystemError(attempted, path, errno, advice: "it is no serial line")
        case .failure(let errno): throw SystemError(attempted, path, errno)
        }
    }
}
