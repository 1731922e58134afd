// What systemd's unit files say about a service, and which bluetoothd is installed.
import Glibc
import WakeSystem

extension MachineLook {
    private static let units = ["/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib"].map { $0 + "/systemd/system" }

    /// - Parameter name: `bluetooth.service`.
    public func unit(_ name: String) -> UnitState {
        let paths = Self.units.map { "\(root)\($0)/\(name)" }
        if paths.contains(where: { (try? File.linkTarget(of: $0)) == "/dev/null" }) { return .masked }
        guard paths.contains(where: isThere) else { return .absent }
        return Self.units.contains { isWanted(name, in: root + $0) } ? .enabled : .disabled
    }

    private func isWanted(_ name: String, in folder: String) -> Bool {
        let folders = ((try? Directory.names(in: folder)) ?? []).filter { $0.hasSuffix(".wants") }
        return folders.contains { isThere("\(folder)/\($0)/\(name)") }
    }

    /// A link counts whether or not its target exists: in another machine's tree it does not.
    private func isThere(_ path: String) -> Bool {
        File.exists(path) || (try? File.linkTarget(of: path)) != nil
    }

    // MARK: Bluetoothd

    /// Its places on Debian, on other systems, and when built from source.
    private var bluetoothd: String? {
        ["/usr/local/libexec/bluetooth", "/usr/libexec/bluetooth", "/usr/lib/bluetooth", "/usr/sbin"]
            .map { "\(root)\($0)/bluetoothd" }.first(where: File.exists)
    }

    public var hasBluetoothd: Bool { bluetoothd != nil }

    /// Runs `bluetoothd --version`: the bus does not report it.
    public var bluetoothdVersion: BluezVersion? {
        guard let bluetoothd else { return nil }
        // Two seconds are enough, whatever program is at that path.
        guard let stream = popen("exec timeout 2 \(bluetoothd.asShellWord) --version 2>/dev/null </dev/null", "r")
        else { return nil }
        var said: [UInt8] = []
        while said.count < 64, case let byte = fgetc(stream), byte != EOF {
            said.append(UInt8(truncatingIfNeeded: byte))
        }
        pclose(stream)
        return BluezVersion(String(decoding: said.prefix { $0 != 10 }, as: UTF8.self))
    }
}
