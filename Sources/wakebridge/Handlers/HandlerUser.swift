// The user that the verbs run and replay start a handler as: from --user, then its manifest, then sudo.
import Glibc
import WakeArguments
import WakeDaemon
import WakeEngine
import WakeSystem

let userFlag = Flag(
    "user", short: "u", value: "USER",
    "run the handler as this user; under sudo, the default is the user that called it")

struct RefusedUser: Error, CustomStringConvertible {
    let description: String
}

extension HandlerManifest {
    /// - Parameter name: the value of --user; nil where it is absent.
    func running(asUser name: String?) throws -> HandlerManifest {
        if let name { return try replacingUser(with: name) }
        guard user == nil, geteuid() == 0, let caller = try Self.callerOfSudo() else { return self }
        var manifest = self
        manifest.user = caller.name
        Console.note("the handler runs as \(caller.name), the user that called sudo; with --user root it runs as root")
        return manifest
    }

    /// The groups of the manifest belong to the manifest's user.
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

    /// Nil where root called sudo, or without sudo. A handler processes foreign data, so it runs as root only on request.
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
