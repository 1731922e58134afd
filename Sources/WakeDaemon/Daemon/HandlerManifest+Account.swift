// What is wrong with the account that a manifest names, on this machine and under this daemon.
import Glibc
import WakeProfiles
import WakeSystem

extension HandlerManifest {
    /// A user or group that is not on this machine, or that we may not become.
    func faultsOfAccount(_ accounts: AccountBook) -> [ConfigurationError] {
        let report = ConfigurationReport(file: file)
        guard let user else {
            if group != nil { report.add("group goes with user; add user, or remove group") }
            return report.errors
        }
        if hasOwnUser { return faultsOfOwnUser(accounts, report) }
        do throws(SystemError) {
            guard let account = try accounts.account(of: self) else { return [] }
            if geteuid() != 0, !account.isCurrent || group != nil {
                report.add(
                    "user is \"\(user)\", and only root can run a handler as another; remove user and group, or run wakebridged as root"
                )
            }
        } catch {
            report.add(
                "user is \"\(user)\"\(group.map { ", group is \"\($0)\"" } ?? ""), which this machine does not have (\(error.description)); correct the name"
            )
        }
        return report.errors
    }

    private func faultsOfOwnUser(_ accounts: AccountBook, _ report: ConfigurationReport) -> [ConfigurationError] {
        if group != nil { report.add("group does not fit user \"auto\", which has a group of its own; remove group") }
        guard geteuid() == 0 else {
            report.add(
                "user is \"auto\", and only root can run a handler as another; remove user, or run wakebridged as root")
            return report.errors
        }
        do throws(SystemError) { _ = try accounts.account(of: self) } catch {
            report.add("user is \"auto\", and no user can be had for it (\(error.description))")
        }
        return report.errors
    }
}
