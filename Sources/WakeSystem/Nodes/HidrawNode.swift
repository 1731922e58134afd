// Reads and writes a HID device's reports by hidraw, without interpreting them.
import CLinux
import Glibc
import WakeModel

/// A report as the device sent it.
public struct HidReport: Hashable, Sendable {
    /// The report's number; 0 where the device does not number reports.
    public var number: UInt8
    /// The whole report, with its number where it has one.
    public var bytes: [UInt8]
}

/// An open hidraw node. The kernel keeps 64 reports for its reader and silently drops more. So a device of 1 kHz must
/// be read every 64 ms. A node cannot be opened exclusively.
public struct HidrawNode: ~Copyable, Sendable {
    public let path: String
    /// Ascending; empty where input reports have no number, or the report descriptor has a fault.
    public let inputNumbers: [UInt8]
    public let fault: HIDReportDescriptor.Fault?
    private let descriptor: FileDescriptor

    /// The descriptor that the loop watches.
    public var raw: Int32 { descriptor.raw }
    /// Whether the first byte of an input report is its number.
    public var numbersReports: Bool { !inputNumbers.isEmpty }

    /// The kernel's HID_MAX_BUFFER_SIZE: bytes that do not fit into a read are lost.
    private static let reportLimit = 16_384
    private static let descriptorLimit = 4_096

    public init(opening path: String) throws(SystemError) {
        let opened = try FileDescriptor.openNode(path)
        let reports = HIDReportDescriptor(try Self.readDescriptor(opened, path))
        (inputNumbers, fault) = (reports.inputNumbers, reports.fault)
        self.path = path
        descriptor = opened
    }

    /// The next report.
    public borrowing func read() throws(SystemError) -> NodeReading<HidReport> {
        switch try descriptor.readNode(path, limit: Self.reportLimit) {
        case .content(let bytes):
            .content(HidReport(number: numbersReports ? bytes.first ?? 0 : 0, bytes: bytes))
        case .wouldBlock: .wouldBlock
        case .closed: .closed
        }
    }

    /// Writes one output report, whole or not at all. Its first byte is its number, or 0 where the device does not
    /// number reports; the 0 is not sent. The driver waits up to 5 s for a device that does not answer. So this must
    /// not run on the thread of a loop.
    public borrowing func write(_ report: [UInt8]) throws(SystemError) -> WriteResult {
        try descriptor.writeNode(report[...], path)
    }

    private static func readDescriptor(
        _ descriptor: borrowing FileDescriptor, _ path: String
    ) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: descriptorLimit)
        let number = descriptor.raw
        let answer = attemptC { clinux_hidraw_descriptor(number, &bytes, descriptorLimit) }
        let count = try answer.get("read the report descriptor of", path) { errno in
            [ENOTTY, EINVAL].contains(errno.code) ? "it is no hidraw node" : nil
        }
        return Array(bytes.prefix(count))
    }
}
