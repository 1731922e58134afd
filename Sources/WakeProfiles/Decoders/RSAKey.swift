// How long an RSA key is: what it costs to prove that one has it grows with the cube of that.
import CCrypto

public enum RSAKey {
    /// The bits of a private key in PEM; nil where it is of another kind, or cannot be read.
    public static func bits(inPEM text: String) -> Int? {
        let bits = wake_rsa_bits(text, Int32(clamping: text.utf8.count))
        return bits > 0 ? Int(bits) : nil
    }
}
