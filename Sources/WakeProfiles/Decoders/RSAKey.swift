// Measures RSA keys: the time to sign with one grows with the cube of its length.
import CCrypto

public enum RSAKey {
    /// The length of a private RSA key in PEM, in bits; nil for other keys, and where the text cannot be read.
    public static func bits(inPEM text: String) -> Int? {
        let bits = wake_rsa_bits(text, Int32(clamping: text.utf8.count))
        return bits > 0 ? Int(bits) : nil
    }
}
