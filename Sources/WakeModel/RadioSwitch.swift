// Whether the kernel's switches for radios (rfkill) hold Bluetooth off.
public enum RadioSwitch: Hashable, Sendable {
    /// By a command: another command undoes it.
    case blockedBySoftware
    /// By a switch or key on the machine.
    case blockedByHardware
    case open
}
