// Manifests of an ordinary user, which root linked in.
import Glibc
import TestBench

extension Siege {
    /// A folder of an ordinary user, with a manifest in it that wants to be root and notes who it is.
    func lay(_ name: String, of user: uid_t) -> String {
        let folder = ground.file("theirs")
        mkdir(folder, 0o755)
        chown(folder, 65534, 65534)
        let script = ground.write("#!/bin/sh\nid -u >>\(yard)/users\nexec cat\n", to: "who.sh")
        chmod(script, 0o755)
        put(Self.manifest([script], "root", "ack: \"delivery\""), at: "\(folder)/\(name).json5")
        chown("\(folder)/\(name).json5", user, user)
        return "\(folder)/\(name).json5"
    }

    func link(_ file: String) {
        let name = file.split(separator: "/").last.map(String.init) ?? ""
        let place = ground.file("config/handlers.d/\(name)")
        unlink(place)
        symlink(file, place)
    }

    /// As whom those manifests ran.
    var users: [String] { lines(of: "\(yard)/users") }
}
