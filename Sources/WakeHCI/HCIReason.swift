// Names for why a link ended: the error codes of HCI (Core Specification, Vol 1, Part F).
import WakeModel

/// A name for the codes with which links end; digits such as `0x3b` for the others.
package func disconnectReason(_ code: UInt8) -> String {
    switch code {
    case 0x05: "authentication-failure"
    case 0x06: "key-missing"
    case 0x08: "timeout"
    case 0x13: "remote-user"
    case 0x14: "remote-low-resources"
    case 0x15: "remote-power-off"
    case 0x16: "local-host"
    case 0x1a: "unsupported-remote-feature"
    case 0x1f: "unspecified"
    case 0x22: "response-timeout"
    case 0x28: "instant-passed"
    case 0x29: "unsupported-unit-key"
    case 0x2f: "insufficient-security"
    case 0x3b: "unacceptable-connection-parameters"
    case 0x3d: "mic-failure"
    case 0x3e: "failed-to-establish"
    default: "0x" + [code].hexadecimal
    }
}

/// The code behind a name or digits of ``disconnectReason(_:)``; nil for names that are not HCI's.
package func disconnectCode(_ reason: String) -> UInt8? {
    let word = reason.lowercased()
    if word.hasPrefix("0x") { return UInt8(word.dropFirst(2), radix: 16) }
    return (UInt8.min...UInt8.max).first { disconnectReason($0) == word }
}
