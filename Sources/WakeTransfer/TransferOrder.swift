// The source and the target of a transfer: in a row of the agenda and on the way to `wakebridge-transferd` alike.
import WakeModel

public struct TransferOrder: Hashable, Sendable {
    public enum Method: String, Hashable, Sendable, CaseIterable {
        case put = "PUT"
        case post = "POST"
    }

    /// Paths are relative to the handler's state directory, and beneath it.
    public enum Direction: Hashable, Sendable {
        case download(to: String)
        case upload(from: String, Method)
    }

    public var address: WebAddress
    public var direction: Direction
    /// The digest of the whole file, in lower case hexadecimal digits.
    public var sha256: String?
    /// The bytes that are expected to be sent and received; for people, and for the room that is needed.
    public var expectedSent: Int64?
    public var expectedReceived: Int64?

    public init(_ address: WebAddress, _ direction: Direction) { (self.address, self.direction) = (address, direction) }

    public var path: String {
        switch direction {
        case .download(let path), .upload(let path, _): path
        }
    }

    /// The method of HTTP.
    public var method: String {
        switch direction {
        case .download: "GET"
        case .upload(_, let method): method.rawValue
        }
    }

    /// The expected count of its direction: bytes received of a download, bytes sent of an upload.
    public var expected: Int64? {
        switch direction {
        case .download: expectedReceived
        case .upload: expectedSent
        }
    }

    public func write(into writer: inout JSONWriter) {
        writer.field("url", address.text)
        switch direction {
        case .download(let path): writer.field("to", path)
        case .upload(let path, let method):
            writer.field("from", path)
            writer.field("method", method.rawValue)
        }
        if let sha256 { writer.field("sha256", sha256) }
        if let expectedSent { writer.field("expect_sent", expectedSent) }
        if let expectedReceived { writer.field("expect_received", expectedReceived) }
    }

    /// Nil where the members are not those of an order.
    public init?(_ value: JSONValue) {
        guard let address = value["url"]?.string.flatMap({ WebAddress($0) }) else { return nil }
        if let path = value["to"]?.string {
            self.init(address, .download(to: path))
        } else if let path = value["from"]?.string {
            self.init(address, .upload(from: path, value["method"]?.string.flatMap { Method(rawValue: $0) } ?? .put))
        } else {
            return nil
        }
        guard TransferPath.isPlain(path) else { return nil }
        sha256 = value["sha256"]?.string
        expectedSent = value["expect_sent"]?.integer
        expectedReceived = value["expect_received"]?.integer
    }
}

/// Names of files beneath a handler's state directory. The kernel keeps them there; this only refuses impossible names
/// early.
public enum TransferPath {
    /// The folder of parts until they are whole, beneath the handler's state directory.
    public static let parts = ".transfers"
    public static let longest = 1_024

    public static func isPlain(_ path: String) -> Bool {
        guard !path.isEmpty, path.utf8.count <= longest, !path.unicodeScalars.contains(where: \.isMisleading) else {
            return false
        }
        let steps = path.split(separator: "/", omittingEmptySubsequences: false)
        let isStep = { (step: Substring) in !step.isEmpty && step != "." && step != ".." && step.utf8.count <= 255 }
        return steps.allSatisfy(isStep) && steps.first != Substring(parts)
    }

    public static func isDigest(_ text: String) -> Bool {
        text.utf8.count == 64 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
