// How a transfer ended, and the word for why one failed.
import WakeModel

public enum TransferFailure: String, Hashable, Sendable, CaseIterable {
    /// The server answered with a status that no retry mends.
    case status
    /// It came compressed, although it was requested as it is: the bytes are not the file's.
    case encoded
    /// More redirects than are followed.
    case redirects
    /// A redirect to nowhere, to a too near address, or to another request than the upload.
    case redirect
    /// From https to http.
    case insecureRedirect = "insecure-redirect"
    /// The whole file is there, and is not the one that was ordered.
    case checksum
    /// The file system has no room for it.
    case storage
    /// Headers without end, or two lengths of the body that differ.
    case head
    /// The file to be sent, or the folder to receive in, cannot be opened beneath the handler's directory.
    case path
    /// Neither it nor any later attempt can be sent there.
    case address
    /// The server's certificate is for another name, or this machine does not trust its signer.
    case certificate
    /// The server cannot keep to one version of the file.
    case changing
    /// The challenge was not answered in time.
    case unauthorized
    /// It was not done by its `give_up`.
    case gaveUp = "gave-up"
    /// An operator stopped its handler, or cancelled it.
    case stopped, cancelled

    /// The daemon decides it, while `wakebridge-transferd` may still be moving the file.
    public var isOfDaemon: Bool {
        switch self {
        case .gaveUp, .unauthorized, .stopped, .cancelled: true
        case .status, .encoded, .redirects, .redirect, .insecureRedirect, .checksum, .storage, .head, .path,
            .address, .certificate, .changing:
            false
        }
    }

    /// For a history.
    public var sentence: String {
        switch self {
        case .status: "the server refused it"
        case .encoded: "the server sent it compressed"
        case .redirects: "the server redirected it too often"
        case .redirect: "the server redirected it to nowhere that it may go"
        case .insecureRedirect: "the server redirected it from https to http"
        case .checksum: "its checksum is not the one that was ordered"
        case .storage: "the file system has no room for it"
        case .head: "the server's headers did not end, or contradict each other"
        case .path: "its file cannot be opened beneath the handler's directory"
        case .address: "its address is none that can be asked"
        case .certificate: "the server's certificate is not valid"
        case .changing: "the server kept changing the file"
        case .unauthorized: "its challenge was not answered"
        case .gaveUp: "it was not done by its give_up"
        case .stopped: "its handler was stopped"
        case .cancelled: "an operator cancelled it"
        }
    }
}

public struct TransferResult: Hashable, Sendable {
    /// Nil where the file is whole, and where it belongs.
    public var failure: TransferFailure?
    /// The status of HTTP; nil if no answer came.
    public var status: Int64?
    public var sent: Int64
    public var received: Int64

    public init(failure: TransferFailure? = nil, status: Int64? = nil, sent: Int64 = 0, received: Int64 = 0) {
        (self.failure, self.status, self.sent, self.received) = (failure, status, sent, received)
    }

    public func write(into writer: inout JSONWriter) {
        writer.field("ok", failure == nil)
        if let failure { writer.field("why", failure.rawValue) }
        if let status { writer.field("status", status) }
        writer.field("sent", sent)
        writer.field("received", received)
    }

    /// Nil where the members are not those of a result.
    public init?(_ value: JSONValue) {
        guard let isGood = value["ok"]?.boolean else { return nil }
        let word = value["why"]?.string.flatMap { TransferFailure(rawValue: $0) }
        failure = isGood ? nil : word ?? .status
        status = value["status"]?.integer
        let most = AddressedNews.byteCounts.upperBound
        sent = min(max(0, value["sent"]?.integer ?? 0), most)
        received = min(max(0, value["received"]?.integer ?? 0), most)
    }
}
