// The key of one device, and its decryption: AES-128 in the forms that broadcasts use.
import CCrypto
import WakeModel

struct DeviceKey {
    private let bytes: [UInt8]

    static let length = Int(WAKE_AES_KEY_BYTES)
    private static let block = Int(WAKE_AES_BLOCK_BYTES)

    /// Refuses a key that is missing or of another length.
    init(_ bytes: [UInt8]?) throws(DecoderFault) {
        guard let bytes else { throw DecoderFault.noKey }
        guard bytes.count == Self.length else {
            throw DecoderFault.keyLength(found: bytes.count, expected: "\(Self.length)")
        }
        self.bytes = bytes
    }

    /// Opens CCM. A tag that does not match the bytes means another key.
    func open(
        _ sealed: ArraySlice<UInt8>, tag: ArraySlice<UInt8>, nonce: [UInt8], extra: [UInt8] = []
    ) throws(DecoderFault) -> [UInt8] {
        // A byte more than needed: C gets no null pointer for an empty message.
        var plain = [UInt8](repeating: 0, count: sealed.count + 1)
        let result = wake_ccm_open(
            bytes, nonce, nonce.count, extra, extra.count, Array(sealed) + [0], sealed.count, Array(tag), tag.count,
            &plain)
        try Self.check(result)
        plain.removeLast()
        return plain
    }

    /// The whole tag of CCM, for formats that send only a part of it.
    func tag(of plain: [UInt8], nonce: [UInt8], extra: [UInt8]) throws(DecoderFault) -> [UInt8] {
        var sealed = [UInt8](repeating: 0, count: plain.count + 1)
        var tag = [UInt8](repeating: 0, count: Self.block)
        let result = wake_ccm_seal(
            bytes, nonce, nonce.count, extra, extra.count, plain + [0], plain.count, &sealed, &tag, tag.count)
        try Self.check(result)
        return tag
    }

    /// Adds the encrypted counters to bytes: CTR, whose counter each format writes in its own way.
    func addStream(to bytes: ArraySlice<UInt8>, counter: (_ block: Int) -> [UInt8]) throws(DecoderFault) -> [UInt8] {
        let blocks = (bytes.count + Self.block - 1) / Self.block
        let counters = (0..<blocks).flatMap(counter)
        var stream = [UInt8](repeating: 0, count: counters.count + 1)
        try Self.check(wake_aes_encrypt(self.bytes, counters + [0], counters.count, &stream))
        return zip(bytes, stream).map { $0 ^ $1 }
    }

    /// Decrypts a block that was encrypted by itself.
    func decrypt(block: ArraySlice<UInt8>) throws(DecoderFault) -> [UInt8] {
        var plain = [UInt8](repeating: 0, count: Self.block)
        try Self.check(wake_aes_decrypt(bytes, Array(block), block.count, &plain))
        return plain
    }

    private static func check(_ result: wake_cipher_result) throws(DecoderFault) {
        switch result {
        case WAKE_CIPHER_DONE: return
        case WAKE_CIPHER_MISMATCH: throw DecoderFault.wrongKey
        default:
            throw DecoderFault.noCipher(wake_cipher_fault().map { String(cString: $0) } ?? "it refused the lengths")
        }
    }
}

/// The last counter that a true message had; an old message that is sent again has no higher one.
struct ReplayGuard: Hashable, Sendable {
    private(set) var last: UInt32?

    /// Takes the counter of a message whose tag was right; refuses one that has not grown.
    mutating func accept(_ counter: UInt32) throws(DecoderFault) {
        if let last, counter <= last { throw DecoderFault.repeatedCounter(found: counter, last: last) }
        last = counter
    }

    /// The same of a counter that goes from `round` - 1 to 0: a message is old unless the counter grew by up to half a round.
    mutating func accept(_ counter: UInt32, round: UInt32) throws(DecoderFault) {
        if let last {
            let step = (counter + round - last) % round
            if step == 0 || step > round / 2 { throw DecoderFault.repeatedCounter(found: counter, last: last) }
        }
        last = counter
    }
}
