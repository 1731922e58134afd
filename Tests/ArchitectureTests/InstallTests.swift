// What stands around the programs: the systemd unit, and what `make install` puts where.
import TestBench
import Testing
import WakeSystem

@Suite("Unit and installation")
struct InstallTests {
    private static let hasAnalyzer = File.exists("/usr/bin/systemd-analyze")
    private let folder: String

    init() throws { folder = try Directory.makeTemporary(prefix: "wakebridge-install") }

    @Test("the unit ends what a dead daemon left, has cgroups of its own, and comes back after a failure")
    func unit() throws {
        let unit = lines(of: "\(packageFolder)/Packages/systemd/wakebridged.service")
        defer { Directory.removeTree(folder) }
        for line in [
            "Type=notify", "Delegate=yes", "KillMode=mixed", "TimeoutStopSec=15", "Restart=on-failure",
            "ExecStart=/usr/bin/wakebridged", "ExecStopPost=/usr/bin/wakebridged --sweep",
            "RuntimeDirectory=wakebridge", "RuntimeDirectoryPreserve=yes", "StateDirectory=wakebridge",
            // What the page on scale reckons with.
            "LimitNOFILE=65536",
        ] {
            #expect(unit.contains(line), "\(line)")
        }
    }

    @Test("the unit takes no capability from the daemon that it has a use for, and says of each what for")
    func capabilities() {
        let unit = lines(of: "\(packageFolder)/Packages/systemd/wakebridged.service")
        let sets = unit.filter { $0.hasPrefix("CapabilityBoundingSet=") }.map { $0.dropFirst(22).split(separator: " ") }
        let explained = unit.filter { $0.hasPrefix("#   CAP_") }.flatMap { line in
            line.split(whereSeparator: { $0 == " " || $0 == "," }).filter { $0.hasPrefix("CAP_") }
        }
        #expect(sets.count == 1 && sets.first.map(Set.init) == Set(explained))
        #expect(Set(["CAP_NET_RAW", "CAP_NET_ADMIN", "CAP_SYS_PTRACE", "CAP_SETUID"]).isSubset(of: explained))
        // These would close what the capabilities open.
        for key in ["User=", "RestrictAddressFamilies=", "PrivateNetwork=", "PrivateUsers="] {
            #expect(!unit.contains { $0.hasPrefix(key) }, "\(key)")
        }
    }

    @Test("the unit closes its files to others and foreign calls to all, and takes no device from handlers")
    func hardening() {
        let unit = lines(of: "\(packageFolder)/Packages/systemd/wakebridged.service")
        for line in ["UMask=0077", "SystemCallArchitectures=native"] { #expect(unit.contains(line), "\(line)") }
        // These settings would bind handlers too, which run in cgroups below the unit's.
        for key in ["DevicePolicy=", "DeviceAllow=", "PrivateDevices="] {
            #expect(!unit.contains { $0.hasPrefix(key) }, "\(key)")
        }
    }

    @Test("each node that the packaged rules claim is part of a USB device that they claim too")
    func claims() throws {
        let rules = lines(of: "\(packageFolder)/udev/70-wakebridge.rules")
        let claim = try Regex("ENV\\{WAKEBRIDGE_PROFILE\\}=\"([^\"]+)\"", as: (Substring, Substring).self)
        func claimed(_ subsystems: [String]) -> Set<Substring> {
            let ours = rules.filter { rule in subsystems.contains { rule.hasPrefix("SUBSYSTEM==\"\($0)\"") } }
            return Set(ours.compactMap { $0.firstMatch(of: claim)?.output.1 })
        }
        let nodes = claimed(["tty", "hidraw", "input"])
        #expect(
            !nodes.isEmpty && nodes.isSubset(of: claimed(["usb"])), "the package's installation finds nodes by them")
    }

    @Test("the unit denies no system call that the daemon's own C code makes", .enabled(if: hasAnalyzer))
    func deniedCalls() throws {
        defer { Directory.removeTree(folder) }
        let unit = lines(of: "\(packageFolder)/Packages/systemd/wakebridged.service")
        let key = "SystemCallFilter=~"
        let filter = try #require(unit.first { $0.hasPrefix(key) }).dropFirst(key.count)
        let denied = filter.split(separator: " ").flatMap { systemCalls(in: String($0)) }
        #expect(denied.contains("reboot"), "systemd-analyze names the calls of no group")
        let code = run("cat '\(packageFolder)'/Sources/C*/*.c").output
        #expect(code.contains("adjtimex("))
        let called = try denied.filter { code.contains(try Regex("\\b\($0)\\(|\\bSYS_\($0)\\b")) }
        #expect(called == [])
    }

    /// The system calls of a group as systemd knows it, and of the groups in that.
    private func systemCalls(in group: String) -> [String] {
        let words = run("systemd-analyze syscall-filter '\(group)'").output.split(whereSeparator: \.isNewline)
            .map { $0.drop { $0 == " " } }.dropFirst().filter { !$0.hasPrefix("#") }
        return words.flatMap { $0.hasPrefix("@") ? systemCalls(in: String($0)) : [String($0)] }
    }

    @Test(
        "make install puts programs, profiles, pages, completions, unit and udev rules below PREFIX, and uninstall takes all away"
    )
    func installs() throws {
        defer { Directory.removeTree(folder) }
        let words = "'\(folder)' /opt/wake /opt/wake/lib/systemd/system"
        let (status, output) = run("Scripts/install.sh '\(builtPrograms)' \(words)")
        #expect(status == 0, "\(output)")
        let root = folder + "/opt/wake"
        for path in [
            "bin/wakebridge", "bin/wakebridged", "bin/wakebridge-transferd", "share/man/man1/wakebridge.1",
            "share/man/man8/wakebridged.8",
            "share/bash-completion/completions/wakebridge", "share/zsh/site-functions/_wakebridge",
            "share/fish/vendor_completions.d/wakebridge.fish",
            "share/wakebridge/Devices/heart-rate-monitor/profile.json5", "share/wakebridge/grafana/wakebridge.json",
            "share/wakebridge/wakehandler/Sources/WakeHandler/BackgroundSession.swift",
            "lib/python3/dist-packages/wakehandler/py.typed",
            "lib/udev/rules.d/70-wakebridge.rules", "lib/udev/rules.d/91-wakebridge-braille.rules",
        ] {
            #expect(File.exists("\(root)/\(path)"), "\(path)")
        }
        let unit = lines(of: "\(root)/lib/systemd/system/wakebridged.service")
        #expect(unit.contains("ExecStart=/opt/wake/bin/wakebridged"))
        #expect(unit.contains("ExecStopPost=/opt/wake/bin/wakebridged --sweep"))
        #expect(run("Scripts/install.sh --remove \(words)").status == 0)
        #expect(run("find '\(folder)' -type f").output == "")
    }

    @Test("one device library is installed, without the published messages that only tests read")
    func installsOneLibrary() {
        defer { Directory.removeTree(folder) }
        #expect(run("Scripts/install.sh '\(builtPrograms)' '\(folder)' /usr /usr/lib/systemd/system").status == 0)
        let profiles = run("find '\(folder)' -name profile.json5").output.split(separator: "\n")
        #expect(profiles.count == run("ls Devices/*/profile.json5").output.split(separator: "\n").count)
        #expect(run("find '\(folder)' -name vectors.json5").output == "")
        let ofHandlers = folder + "/usr/share/wakebridge/wakehandler/Devices"
        #expect(File.exists(ofHandlers + "/heart-rate-monitor/recording.trace"))
    }

    @Test(
        "a package over a tenth heavier than the page of figures states is not built",
        .enabled(if: File.exists("/usr/bin/dpkg-deb")),
        arguments: [(1_000_000, 2_000, true), (1_200_000, 2_000, false), (1_000_000, 2_300, false)])
    func weight(bytes: Int, installedKilobytes: Int, isBuilt: Bool) throws {
        defer { Directory.removeTree(folder) }
        try Directory.create(folder + "/tree", mode: 0o755)
        try Directory.create(folder + "/tree/DEBIAN", mode: 0o755)
        put([UInt8](repeating: 7, count: bytes), at: folder + "/tree/file")
        put(
            "Package: a\nVersion: 1\nArchitecture: all\nMaintainer: a <a@b>\nDescription: a\n"
                + "Installed-Size: \(installedKilobytes)\n", at: folder + "/tree/DEBIAN/control")
        put("| the package; installed | 1.0 MB; 2.0 MB | the same |\n", at: folder + "/page.md")
        let made = run("dpkg-deb -Znone -b '\(folder)/tree' '\(folder)/a.deb'")
        try #require(made.status == 0, "\(made.output)")
        let (status, output) = run(". Scripts/debian.sh; check_weight '\(folder)/a.deb' '\(folder)/page.md' 2>&1")
        #expect((status == 0) == isBuilt, "\(output)")
        #expect(output.contains("look for what grew with dpkg-deb --contents") != isBuilt, "\(output)")
    }

    @Test("make install and make uninstall go where DESTDIR, PREFIX and UNITDIR say, and nothing is left")
    func installsByMake() {
        defer { Directory.removeTree(folder) }
        let places = "DESTDIR='\(folder)/there' PREFIX=/opt/wake UNITDIR=/opt/units"
        // This installs the programs of these tests, since a build for speed takes minutes.
        let built = "RELEASE=\"sh -c 'echo \(builtPrograms)'\""
        let (status, output) = run("env -u MAKEFLAGS make -s -o build install \(built) \(places)")
        #expect(status == 0, "\(output)")
        for path in ["opt/wake/bin/wakebridge", "opt/wake/bin/wakebridged", "opt/units/wakebridged.service"] {
            #expect(File.exists("\(folder)/there/\(path)"), "\(path)")
        }
        #expect(run("find '\(folder)/there' -mindepth 1 -maxdepth 1").output == "\(folder)/there/opt\n")
        #expect(run("env -u MAKEFLAGS make -s uninstall \(places)").status == 0)
        #expect(run("find '\(folder)/there' ! -type d").output == "")
    }

    /// The links of pages below a folder that lead nowhere, and how many links there are.
    private func deadLinks(below root: String) throws -> (dead: [String], count: Int) {
        var (dead, count): ([String], Int) = ([], 0)
        for page in run("find '\(root)' -name '*.md'").output.split(separator: "\n").map(String.init) {
            let folder = page.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
            for link in try File.text(at: page).split(separator: "](").dropFirst() where !link.hasPrefix("#") {
                let target = link.prefix { $0 != ")" && $0 != "#" }
                guard !target.contains("://") else { continue }
                count += 1
                if !File.exists("\(folder)/\(target)") { dead.append("\(page): \(target)") }
            }
        }
        return (dead, count)
    }

    @Test("every link of the installed pages leads to a file that is installed, and README and index are both there")
    func links() throws {
        defer { Directory.removeTree(folder) }
        #expect(run("Scripts/install.sh '\(builtPrograms)' '\(folder)/tree' /usr /usr/lib/systemd/system").status == 0)
        let (dead, count) = try deadLinks(below: folder + "/tree")
        #expect(dead == [] && count > 150)
        let pages = folder + "/tree/usr/share/doc/wakebridge"
        #expect(lines(of: pages + "/README.md").first == "# WakeBridge")
        #expect(lines(of: pages + "/docs/README.md").first == "# Documentation")
    }

    @Test("every link of the pages in the Debian package leads to a file of the package")
    func linksOfPackage() throws {
        defer { Directory.removeTree(folder) }
        #expect(run("Scripts/install.sh '\(builtPrograms)' '\(folder)/tree' /usr /usr/lib/systemd/system").status == 0)
        let rules = "make -C '\(folder)' -f '\(packageFolder)/Packages/debian/rules' override_dh_auto_install"
        let (status, output) = run(rules)
        #expect(status == 0, "\(output)")
        let built = folder + "/debian/wakebridge"
        // Debian's Python finds the module of handlers here by itself.
        #expect(File.exists(built + "/usr/lib/python3/dist-packages/wakehandler/__init__.py"))
        // Debhelper puts these there later.
        for name in ["copyright", "changelog.gz"] { put("", at: "\(built)/usr/share/doc/wakebridge/\(name)") }
        #expect(try deadLinks(below: built).dead == [])
    }

    @Test(
        "the package has its unit below /usr/lib, where Debian 12's debhelper puts it elsewhere and Debian 13's does not",
        arguments: ["lib", "usr/lib"])
    func unitInPackage(below lib: String) throws {
        defer { Directory.removeTree(folder) }
        let units = "\(folder)/debian/wakebridge/\(lib)/systemd/system"
        try Directory.create(folder + "/bin")
        put(
            "#!/bin/sh\nmkdir -p '\(units)' && touch '\(units)/wakebridged.service'\n",
            at: folder + "/bin/dh_installsystemd", mode: 0o755)
        let rules = "make -C '\(folder)' -f '\(packageFolder)/Packages/debian/rules' override_dh_installsystemd"
        let (status, output) = run("PATH='\(folder)/bin':\"$PATH\" \(rules)")
        #expect(status == 0, "\(output)")
        let files = run("find '\(folder)/debian/wakebridge' -type f -printf '%P\\n'; ls '\(folder)/debian/wakebridge'")
        #expect(files.output == "usr/lib/systemd/system/wakebridged.service\nusr\n")
    }

    @Test(
        "the package asks for the C library that its programs need, and for none older than 2.36",
        arguments: [("2.4", "2.36"), ("2.38", "2.38"), ("2.36", "2.36")])
    func libc(found: String, asked: String) {
        defer { Directory.removeTree(folder) }
        let words = "shlibs:Depends=libc6 (>= %s), libcurl4 (>= 7.16.2)"
        #expect(
            run(". Scripts/debian.sh; printf '\(words)\\n' \(found) | with_libc 2.36").output
                == words.replacing("%s", with: asked) + "\n")
    }

    @Test("the package makes its group before udev reads the rules that name it")
    func groupFirst() throws {
        defer { Directory.removeTree(folder) }
        let script = lines(of: "\(packageFolder)/Packages/debian/wakebridge.postinst")
        // Here debhelper puts what makes the group.
        let group = try #require(script.firstIndex(of: "#DEBHELPER#"))
        let rules = try #require(script.firstIndex { $0.contains("udevadm control --reload") })
        #expect(group < rules)
    }

    @Test("a removal ends what moves files, after the daemon that would start it again; an upgrade does not")
    func endsTransfers() throws {
        defer { Directory.removeTree(folder) }
        let script = lines(of: "\(packageFolder)/Packages/debian/wakebridge.prerm")
        // Here debhelper puts what stops the daemon.
        let daemon = try #require(script.firstIndex(of: "#DEBHELPER#"))
        let transfers = try #require(script.firstIndex { $0.contains("systemctl stop 'wakebridge-transferd-*.scope'") })
        #expect(daemon < transfers && script[transfers - 1].contains("= remove ]"))
        let removal = lines(of: "\(packageFolder)/Scripts/install.sh")
        let disabled = try #require(removal.firstIndex { $0.contains("disable --now wakebridged.service") })
        let ended = try #require(removal.firstIndex { $0.contains("stop 'wakebridge-transferd-*.scope'") })
        #expect(disabled < ended)
    }

    @Test("systemd finds nothing wrong with the unit as it is installed", .enabled(if: hasAnalyzer))
    func verified() throws {
        defer { Directory.removeTree(folder) }
        let (bin, units) = ("\(folder)/bin", "\(folder)/units")
        #expect(run("Scripts/install.sh '\(builtPrograms)' '' '\(folder)' '\(units)'").status == 0)
        #expect(File.exists(bin + "/wakebridged"))
        let (status, output) = run("systemd-analyze verify --man=no '\(units)/wakebridged.service'")
        #expect(status == 0 && !output.contains("wakebridged.service"), "\(output)")
    }

    @Test("who installs on this machine is told how udev takes up the rules, and where it would not find them")
    func tellsOfRules() {
        defer { Directory.removeTree(folder) }
        let (status, output) = run("Scripts/install.sh '\(builtPrograms)' '' '\(folder)' '\(folder)/units'")
        #expect(status == 0 && output.contains("sudo udevadm control --reload && sudo udevadm trigger"), "\(output)")
        #expect(output.contains("udev reads no rules below \(folder): copy those of \(folder)/lib/udev/rules.d"))
        let advice = output.split(separator: "\n").filter { !$0.hasPrefix("  ") }
        #expect(
            advice.first == """
                The group, a user and the folders are made by: sudo systemd-sysusers \(folder)/lib/sysusers.d/wakebridge.conf \
                && sudo systemd-tmpfiles --create \(folder)/lib/tmpfiles.d/wakebridge.conf
                """)
    }
}
