// The fate of transfers as plain values: how one ended, why it failed, and which server wants a credential.

/// A change of transfers that you handed over.
public enum TransferChange: Hashable, Sendable {
    /// A transfer has ended: the file is where you wanted it, or ``FinishedTransfer/failure`` has the reason.
    case finished(FinishedTransfer)
    /// The server asks who you are: answer within an hour.
    case challenge(TransferChallenge)
    /// All transfers of the session have ended.
    case settled(session: String, finished: Int, failed: Int)

    /// The session of the manifest.
    public var sessionIdentifier: String {
        switch self {
        case .finished(let end): end.session
        case .challenge(let challenge): challenge.session
        case .settled(let session, _, _): session
        }
    }
}

/// A transfer that has ended.
public struct FinishedTransfer: Hashable, Sendable {
    /// The session that it was ordered in.
    public let session: String
    /// Its name in that session.
    public let identifier: String
    /// False where it sent its file.
    public let isDownload: Bool
    /// The path of its file, from your state directory on.
    public let path: String
    /// Why it failed; nil where the file is whole.
    public let failure: TransferFailure?
    /// The status of HTTP; nil where no answer came.
    public let status: Int?
    /// Bytes of the file.
    public let sent: Int
    /// Bytes of the file.
    public let received: Int
}

/// A server that asks who you are.
public struct TransferChallenge: Hashable, Sendable {
    /// The session that the transfer was ordered in.
    public let session: String
    /// The transfer's name in that session.
    public let identifier: String
    /// The requested address.
    public let address: String
    /// In the server's words.
    public let realm: String

    /// Your answer to it.
    public enum Answer: Hashable, Sendable {
        /// Neither word is kept on the disk, and no other host gets them.
        case useCredential(user: String, password: String)
        /// The task is taken back.
        case cancelTask
    }
}

/// Why a transfer failed.
public enum TransferFailure: BridgeWord, Error {
    /// The server answered with a status that no retry mends.
    case status
    /// It came compressed, although it was asked for as it is.
    case encoded
    /// The transfer was redirected too often, to nowhere or too near, or from https to http.
    case redirects, redirect, insecureRedirect
    /// The whole file is not the one that was ordered.
    case checksum
    /// The file system has no room for it.
    case storage
    /// The server's headers did not end.
    case head
    /// Its file cannot be opened beneath your state directory.
    case path
    /// Its address is none that can be asked.
    case address
    /// The server's certificate is not valid.
    case certificate
    /// The server kept changing the file.
    case changing
    /// The challenge was not answered in time.
    case unauthorized
    /// It was not done by its `give_up`.
    case gaveUp
    /// An operator stopped you, or cancelled it.
    case stopped, cancelled
    /// A word of a later version.
    case other(String)

    public static let known: [TransferFailure] = [
        .status, .encoded, .redirects, .redirect, .insecureRedirect, .checksum, .storage, .head, .path, .address,
        .certificate, .changing, .unauthorized, .gaveUp, .stopped, .cancelled,
    ]

    public var word: String {
        switch self {
        case .status: "status"
        case .encoded: "encoded"
        case .redirects: "redirects"
        case .redirect: "redirect"
        case .insecureRedirect: "insecure-redirect"
        case .checksum: "checksum"
        case .storage: "storage"
        case .head: "head"
        case .path: "path"
        case .address: "address"
        case .certificate: "certificate"
        case .changing: "changing"
        case .unauthorized: "unauthorized"
        case .gaveUp: "gave-up"
        case .stopped: "stopped"
        case .cancelled: "cancelled"
        case .other(let word): word
        }
    }
}
