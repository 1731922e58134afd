// Reads the kernel's switches for radios (/sys/class/rfkill).
import WakeModel

extension RfkillState {
    /// - Parameter folder: the kernel's `/sys/class/rfkill`.
    public static func look(in folder: String = "/sys/class/rfkill") -> RfkillState {
        let switches = ((try? Directory.names(in: folder)) ?? []).map { folder + "/" + $0 }
        let ours = switches.filter { word("type", of: $0) == "bluetooth" }
        if ours.contains(where: { word("hard", of: $0) == "1" }) { return .blockedByHardware }
        return ours.contains { word("soft", of: $0) == "1" } ? .blockedBySoftware : .open
    }

    private static func word(_ name: String, of path: String) -> String? {
        (try? File.bytes(at: path + "/" + name, limit: 64)).map { bytes in
            String(decoding: bytes.filter { $0 > 0x20 }, as: UTF8.self)
        }
    }
}
