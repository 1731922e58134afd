// Reads the kernel's switches for radios (/sys/class/rfkill).
import WakeModel

extension RfkillState {
    /// - Parameter folder: the kernel's `/sys/class/rfkill`.
    public static func look(in folder: String = "/sys/class/rfkill") -> RfkillState {
        let switches = ((try? Directory.names(in: folder)) ?? []).map { folder + "/" + $0 }
        let ours = switches.filter { File.word(at: $0 + "/type") == "bluetooth" }
        if ours.contains(where: { File.word(at: $0 + "/hard") == "1" }) { return .blockedByHardware }
        return ours.contains { File.word(at: $0 + "/soft") == "1" } ? .blockedBySoftware : .open
    }
}
