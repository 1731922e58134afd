// What is wrong with the account that a manifest names, on this machine and under this daemon.
import Glibc
import WakeEngine
import WakeProfiles
import WakeSystem

extension HandlerManifest {
    /// A user or group that is not on this machine, or that we may not become.
    func faultsOfAccount(_ accounts: AccountBook) -> [ConfigurationError] {
        let report = ConfigurationReport(file: file)
        guard let user else {
            if group != nil { report.add("group goes with user; add user, or remove group") }
            if !groups.isEmpty { report.add("groups goes with user; add user, or remove groups") }
            return report.errors
        }
        reportUnknownGroups(to: report)
        if hasOwnUser {
            reportOwnUser(accounts, to: report)
        } else {
            reportNamedUser(user, accounts, to: report)
        }
        return report.errors
    }

    private func reportUnknownGroups(to report: ConfigurationReport) {
        for name in groups {
            do throws(SystemError) { _ = try GroupName.number(of: name) } catch {
                report.add(
                    "groups names \"\(name)\", which this machine does not have (\(error.description)); correct the name, or make the group"
                )
            }
        }
    }

    private func reportNamedUser(_ user: String, _ accounts: AccountBook, to report: ConfigurationReport) {
        var alone = self
        alone.groups = []
        do throws(SystemError) {
            guard let account = try accounts.account(of: alone), geteuid() != 0 else { return }
            if !account.isCurrent || group != nil {
                report.add(
                    "user is \"\(user)\", and only root can run a handler as another; remove user and group, or run wakebridged as root"
                )
            }
            if !groups.isEmpty {
                report.add(
                    "groups is set, and only root can give a handler groups; remove it, or run wakebridged as root")
            }
        } catch {
            report.add(
                "user is \"\(user)\"\(group.map { ", group is \"\($0)\"" } ?? ""), which this machine does not have (\(error.description)); correct the name"
            )
        }
    }

    private func reportOwnUser(_ accounts: AccountBook, to report: ConfigurationReport) {
        if group != nil { report.add("group does not fit user \"auto\", which has a group of its own; remove group") }
        guard geteuid() == 0 else {
            return report.add(
                "user is \"auto\", and only root can run a handler as another; remove user, or run wakebridged as root")
        }
        var alone = self
        alone.groups = []
        do throws(SystemError) { _ = try accounts.account(of: alone) } catch {
            report.add("user is \"auto\", and no user can be had for it (\(error.description))")
        }
    }
}
