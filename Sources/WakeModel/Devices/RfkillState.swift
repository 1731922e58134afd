// Whether the kernel's radio switches (rfkill) block Bluetooth.
public enum RfkillState: Hashable, Sendable {
    /// Blocked by a command; another command unblocks it.
    case blockedBySoftware
    /// Blocked by a switch or key on the machine.
    case blockedByHardware
    case open
}
