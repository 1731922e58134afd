// A hidraw node that stands open: each report is a message of the stream that bears its number.
import WakeModel
import WakeSystem

final class HidNode: OpenNode {
    private let node: HidrawNode

    init(opening path: String) throws(SystemError) { node = try HidrawNode(opening: path) }

    var raw: Int32 { node.raw }
    var remarks: [String] { node.reports.fault.map { ["its report descriptor is not as it must be: \($0)"] } ?? [] }

    func drain(at now: Instant, _ tell: (NodeWord, Instant) -> Void) throws(SystemError) -> Bool {
        for _ in 1...DrainLimit.reads {
            switch try node.read() {
            case .content(let report): tell(.data(.report(report.number), report.bytes), now)
            case .wouldBlock: return true
            case .closed: return false
            }
        }
        return true
    }

    /// A report is taken whole; a stream named with it must be its own.
    func write(_ bytes: ArraySlice<UInt8>, to channel: Channel?) throws(SystemError) -> NodeWriting {
        switch channel {
        case .report(let number)? where number != bytes.first:
            return .refused("a report begins with its number, so \"report-\(number)\" with \([number].hexadecimal)")
        case .report?, nil: return NodeWriting(try node.write(Array(bytes)))
        case .serial?, .input?, .advertisement?, .characteristic?:
            return .refused("its streams are reports, such as \"report-0\"")
        }
    }
}
