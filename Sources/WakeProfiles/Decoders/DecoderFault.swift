// Why a named decoder makes no value of a message; the message is then delivered raw.
import WakeModel

/// No key, a wrong key and a repeated counter are distinct faults: the owner must act differently on each.
public enum DecoderFault: Error, Hashable, Sendable, CustomStringConvertible {
    case noKey
    case keyLength(found: Int, expected: String)
    case wrongKey
    /// A counter that must grow has not. `last` is the highest that a true message had.
    case repeatedCounter(found: UInt32, last: UInt32)
    /// The message is plain, though its device has a key.
    case notEncrypted
    /// libcrypto cannot be loaded.
    case noCipher(String)
    /// The part that begins at byte `offset` needs `needed` bytes and finds `found`.
    case tooShort(offset: Int, needed: Int, found: Int)
    /// The bytes do not follow the format; the text names the place.
    case unfit(String)

    public var description: String {
        switch self {
        case .noKey: "no key: the message is encrypted, and keys.json5 has no key for its address; add it"
        case .keyLength(let found, let expected):
            "no key: the key in keys.json5 has \(found.counted("byte")), this device's has \(expected)"
        case .wrongKey:
            "wrong key: the message was not encrypted with the key in keys.json5; read it from the device again"
        case .repeatedCounter(let found, let last):
            "repeated counter: it counts \(found) after \(last), so it is an old message, or the device restarted"
        case .notEncrypted:
            "not encrypted: keys.json5 has a key for its address, so a plain message may be forged; remove the key"
                + " if the device encrypts no more"
        case .noCipher(let reason): "not decrypted: libcrypto cannot be loaded (\(reason)); install libssl3"
        case .tooShort(let offset, let needed, let found):
            "too short: what begins at byte \(offset) needs \(needed), \(found) are left"
        case .unfit(let sentence): sentence
        }
    }
}
