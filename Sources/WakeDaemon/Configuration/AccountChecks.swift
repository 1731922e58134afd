// Faults of the account that a manifest names, on this machine and under this daemon.
import Glibc
import WakeEngine
import WakeProfiles
import WakeSystem

extension HandlerManifest {
    /// A user or group that is not on this machine, or that the daemon may not become.
    /// - Parameter isRoot: the daemon runs as root.
    func faultsOfAccount(_ accounts: AccountBook, isRoot: Bool = geteuid() == 0) -> [ConfigurationError] {
        let report = ConfigurationReport(file: file)
        guard let user else {
            if group != nil { report.add("group goes with user; add user, or remove group", at: .key("group")) }
            if !groups.isEmpty { report.add("groups goes with user; add user, or remove groups", at: .key("groups")) }
            return report.errors
        }
        reportUnknownGroups(to: report)
        if hasOwnUser {
            reportOwnUser(accounts, isRoot: isRoot, to: report)
        } else {
            reportNamedUser(user, accounts, isRoot: isRoot, to: report)
        }
        return report.errors
    }

    private func reportUnknownGroups(to report: ConfigurationReport) {
        for name in groups {
            do throws(SystemError) { _ = try GroupName.number(of: name) } catch {
                report.add(
                    error, at: .key("groups"),
                    as:
                        "groups names \"\(name)\", which this machine does not have (\(error.description)); correct the name, or make the group"
                )
            }
        }
    }

    private func reportNamedUser(_ user: String, _ accounts: AccountBook, isRoot: Bool, to report: ConfigurationReport)
    {
        var alone = self
        alone.groups = []
        do throws(SystemError) {
            guard let account = try accounts.account(of: alone), !isRoot else { return }
            if !account.isCurrent || group != nil {
                report.add(
                    "user is \"\(user)\", and only root can run a handler as another; remove user and group, or run wakebridged as root",
                    at: .key("user")
                )
            }
            if !groups.isEmpty {
                report.add(
                    "groups is set, and only root can give a handler groups; remove it, or run wakebridged as root",
                    at: .key("groups"))
            }
        } catch {
            report.add(
                error, at: .key("user"),
                as:
                    "user is \"\(user)\"\(group.map { ", group is \"\($0)\"" } ?? ""), which this machine does not have (\(error.description)); correct the name"
            )
        }
    }

    private func reportOwnUser(_ accounts: AccountBook, isRoot: Bool, to report: ConfigurationReport) {
        if group != nil {
            report.add(
                "group does not fit user \"auto\", which has a group of its own; remove group", at: .key("group"))
        }
        guard isRoot else {
            return report.add(
                "user is \"auto\", and only root can run a handler as another; remove user, or run wakebridged as root",
                at: .key("user"))
        }
        var alone = self
        alone.groups = []
        do throws(SystemError) { _ = try accounts.account(of: alone) } catch {
            report.add(
                error, at: .key("user"), as: "user is \"auto\", and no user can be had for it (\(error.description))")
        }
    }
}

extension ConfigurationReport {
    /// A look-up that failed: for want of something, which is no fault of the name, or for the reason in `sentence`.
    fileprivate func add(_ error: SystemError, at place: ConfigurationPath, as sentence: String) {
        let isPassing = error.errno.isLackOfDescriptors
        add(isPassing ? error.description : sentence, at: place, isPassing: isPassing)
    }
}
