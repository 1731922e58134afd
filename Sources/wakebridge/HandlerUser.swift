// Which user the verbs run and replay start a handler as: what --user says, else its manifest, else sudo.
import Glibc
import WakeDaemon
import WakeSystem
import WakeWords

let userFlag = Flag("user", value: "USER", "run the handler as this user; under sudo, the one who called it")

struct RefusedUser: Error, CustomStringConvertible {
    let description: String
}

extension HandlerManifest {
    /// - Parameter name: what stands behind --user; nil where that is left out.
    func running(asUser name: String?) throws -> HandlerManifest {
        if let name { return try replacingUser(with: name) }
        guard user == nil, geteuid() == 0, let caller = try Self.callerOfSudo() else { return self }
        var manifest = self
        manifest.user = caller.name
        Console.say("the handler runs as \(caller.name), who called sudo; with --user root it runs as root")
        return manifest
    }

    /// The groups of the manifest were for its own user.
    private func replacingUser(with name: String) throws -> HandlerManifest {
        guard let account = try? Account(named: name) else {
            throw RefusedUser(description: "--user is \"\(name)\", which this machine does not have; correct the name")
        }
        guard geteuid() == 0 || account.isCurrent else {
            throw RefusedUser(
                description:
                    "--user is \"\(name)\", and only root can run a handler as another; leave it out, or use sudo")
        }
        var manifest = self
        manifest.user = name
        manifest.group = nil
        manifest.groups = []
        return manifest
    }

    /// Nil where root did, or where there is no sudo. A handler works on data of strangers: it is root only if told.
    static func callerOfSudo() throws -> Account? {
        guard let text = Environment.value(of: "SUDO_UID"), text != "0" else { return nil }
        guard text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains), let number = UInt32(text),
            let account = try? Account(user: number)
        else {
            throw RefusedUser(
                description: "SUDO_UID is \"\(text)\", which is no user of this machine; name one with --user")
        }
        return account.user == 0 ? nil : account
    }
}
