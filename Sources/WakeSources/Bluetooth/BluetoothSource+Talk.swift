// Talking back: a handler's reads and writes of characteristics, and why they did not come to pass, in words.
import WakeLoop
import WakeModel

public enum TalkFailure: Error, Hashable, Sendable {
    case notConnected
    /// The peripheral has no such characteristic, or it cannot be read or written.
    case notOffered(String)
    case refused(String)
}

extension BluetoothSource {
    /// An attribute transaction ends after 30 s (Core Specification, Vol 3, Part F, 3.3.3); longer than that nobody waits.
    private static let transaction = TimeSpan.seconds(32)

    /// Reads a characteristic's whole value; `answer` is called exactly once.
    public func read(
        _ uuid: BluetoothUUID, of uri: String, _ answer: @escaping (Result<[UInt8], TalkFailure>) -> Void
    ) {
        switch target(uuid, of: uri, needs: ["read"]) {
        case .failure(let failure): answer(.failure(failure))
        case .success(let target):
            // Bluetoothd tells a read's value as if the peripheral had said it; the machine knows which one not to believe.
            step(uri, .handlerReads(uuid))
            client.call(
                target.path, BluezInterface.characteristic, "ReadValue", [.properties([])], within: Self.transaction
            ) { [weak self] result in
                let answered = result.map { $0.first?.bytes ?? [] }.mapError { TalkFailure($0) }
                self?.step(uri, .handlerRead(uuid, try? answered.get()))
                answer(answered)
            }
        }
    }

    /// Writes a characteristic's value, with a response where the peripheral gives one; longer values than a packet holds
    /// go in parts, which bluetoothd makes.
    public func write(
        _ bytes: [UInt8], to uuid: BluetoothUUID, of uri: String,
        _ answer: @escaping (Result<Void, TalkFailure>) -> Void
    ) {
        switch target(uuid, of: uri, needs: ["write", "write-without-response"]) {
        case .failure(let failure): answer(.failure(failure))
        case .success(let target):
            let way = target.flags.contains("write") ? "request" : "command"
            let arguments: [BusValue] = [.bytes(bytes), .properties([("type", .string(way))])]
            client.call(
                target.path, BluezInterface.characteristic, "WriteValue", arguments, within: Self.transaction
            ) { result in
                answer(result.map { _ in }.mapError { TalkFailure($0) })
            }
        }
    }

    private struct Target {
        var path: String
        var flags: Set<String>
    }

    private func target(
        _ uuid: BluetoothUUID, of uri: String, needs flags: Set<String>
    ) -> Result<Target, TalkFailure> {
        guard let entry = watched[uri], entry.machine.isReady else { return .failure(.notConnected) }
        guard let path = path(of: uuid, entry), let found = client.mirror.characteristic(at: path) else {
            return .failure(.notOffered("it has no characteristic \(uuid)"))
        }
        guard !found.flags.isDisjoint(with: flags) else {
            let can = found.flags.sorted().joined(separator: ", ")
            return .failure(.notOffered("its characteristic \(uuid) can only: \(can)"))
        }
        return .success(Target(path: path, flags: found.flags))
    }
}

extension TalkFailure {
    init(_ error: BusError) {
        if error.isNotConnected {
            self = .notConnected
        } else if error.isTimeout {
            self = .refused("it did not answer within 30 s")
        } else {
            self = .refused(Self.words(in: error.message) ?? error.description)
        }
    }

    /// What a code of the attribute protocol means, where bluetoothd only names it: `… ATT error: 0x0d`.
    static func words(in message: String) -> String? {
        let pieces = message.lowercased().split(separator: "0x", maxSplits: 1, omittingEmptySubsequences: false)
        guard pieces.count == 2, pieces[0].contains("att") else { return nil }
        guard let code = UInt8(pieces[1].prefix { $0.isHexDigit }, radix: 16) else { return nil }
        let hexadecimal = "0x" + (code < 16 ? "0" : "") + String(code, radix: 16)
        return "\(AttributeFault.words(for: code)) (ATT error \(hexadecimal))"
    }
}

/// Error codes of the attribute protocol (Core Specification, Vol 3, Part F, 3.4.1.1, and the Supplement, Part B).
enum AttributeFault {
    static func words(for code: UInt8) -> String {
        switch code {
        case 0x01: "there is no such handle"
        case 0x02: "it may not be read"
        case 0x03: "it may not be written"
        case 0x04: "the request was not understood"
        case 0x05: "it wants a bond first"
        case 0x06: "it does not know such a request"
        case 0x07: "the offset is beyond the value's end"
        case 0x08: "it is not authorised"
        case 0x09: "too many parts are waiting to be written"
        case 0x0a: "there is no such attribute"
        case 0x0b: "the value is too long for this way of reading"
        case 0x0c: "its key is too short"
        case 0x0d: "the value has a length that it does not take"
        case 0x0e: "it failed for a reason of its own"
        case 0x0f: "it wants an encrypted link"
        case 0x10: "it does not group by that type"
        case 0x11: "it has no room left"
        case 0x12: "its database has changed"
        case 0x13: "the value is not allowed"
        case 0x80...0x9f: "it refused for a reason of its own"
        case 0xfc: "it refused the write"
        case 0xfd: "its client configuration is not as it must be"
        case 0xfe: "a procedure is already at work"
        case 0xff: "the value is out of range"
        default: "it refused"
        }
    }
}
