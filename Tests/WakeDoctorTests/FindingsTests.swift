// The findings that follow from facts, as a table, and their order.
import Testing
import WakeModel

@testable import WakeDoctor

extension Finding {
    /// The command or the advice; empty where there is none.
    var remedyText: String {
        switch remedy {
        case .run(let text), .act(let text): text
        case nil: ""
        }
    }
}

@Suite("Findings") struct FindingsTests {
    @Test("each fault of a machine brings its finding, with how to fix it, and no other one", arguments: cases)
    func finds(one: Case) throws {
        let finding = try #require(one.finding)
        #expect(finding.level == one.level)
        #expect(finding.remedyText == one.remedy)
        #expect(!finding.what.isEmpty && !finding.what.hasSuffix("."))
        #expect(finding.level == .ok ? finding.why.isEmpty : finding.why.hasSuffix("."))
        let others = Findings(one.facts).all.filter { $0.level > .ok && $0.code != one.code }
        #expect(others == [])
    }

    @Test("there is a case for every finding")
    func isComplete() {
        #expect(Set(cases.map(\.code)) == Set(Finding.Code.allCases))
    }

    @Test("where nothing is wrong, bluetoothd, adapter and bridge are told to be well, and nothing else")
    func allIsWell() {
        let findings = Findings(wellFacts())
        #expect(findings.worst == .ok)
        #expect(
            findings.all.map(\.what) == [
                "bluetoothd 5.66 runs",
                "adapter 00:1A:7D:DA:71:13 (hci0, Cambridge Silicon Radio, no LL privacy) is on, with 1 link",
                "wakebridged 0.30.0 runs, and freezes handlers by cgroup",
            ])
    }

    @Test("the worst comes first, and of two that are as bad the cause before what follows from it")
    func isOrdered() {
        var facts = wellFacts()
        facts.isClockSet = false
        facts.withAdapter { $0.isScanning = true }
        facts.withBridge { $0.suspendsWeakly = true }
        facts.bluetoothdVersion = BluezVersion(5, 37)
        let findings = Findings(facts)
        #expect(
            findings.all.map(\.code) == [
                .bluetoothdOld, .foreignScan, .weakSuspension, .clockUnset, .adapter, .bridge,
            ])
        #expect(findings.worst == .fault)
    }

    @Test("a machine without cgroups is told what its daemon will lack before one runs")
    func foreseesWeakness() {
        var facts = wellFacts()
        facts.bridge = .absent(socket: "/run/x")
        facts.kernel.hasCgroups = false
        #expect(Findings(facts).all.map(\.code).prefix(2) == [.bridgeAbsent, .weakSuspension])
    }

    @Test("rules that cannot be made hide no finding, and no finding says that making them would fix it")
    func cannotMakeRules() {
        var facts = wellFacts()
        facts.accessories.rules = .unmade("the profile x: why; do this")
        facts.accessories.hasModemManager = true
        var accessory = AttachedAccessory("/dev/ttyACM0", .serial, "uno")
        accessory.access = .denied(group: nil)
        accessory.isModemCandidate = true
        facts.accessories.attached = [accessory]
        let found = Findings(facts).all.filter { $0.level > .ok }
        #expect(found.map(\.code) == [.rulesUnmade, .modemManager, .nodeDenied])
        #expect(found.first?.what.hasSuffix(": the profile x: why; do this") == true)
        #expect(!found.contains { $0.remedyText.contains("tee") })
    }

    @Test("of several adapters the one that scans is named, and not the one whose name begins alike")
    func namesTheAdapter() {
        var facts = wellFacts()
        var scanning = AdapterFacts("hci1", "00:1A:7D:DA:71:15")
        scanning.isScanning = true
        facts.bus = .reached(.running(BluezFacts([AdapterFacts("hci10", "00:1A:7D:DA:71:16"), scanning])))
        let found = Findings(facts).all.filter { $0.level > .ok }
        #expect(found.map(\.what) == ["another program scans with adapter 00:1A:7D:DA:71:15 (hci1)"])
    }

    @Test("what an adapter has shown to the bridge goes before what such controllers mostly hold")
    func believesTheBridge() {
        var facts = wellFacts()
        facts.withAdapter { $0.links = 5 }
        #expect(Findings(facts).all.contains { $0.code == .slotsFull })
        facts.withBridge { $0.mostLinks = ["00:1A:7D:DA:71:13": 7] }
        #expect(!Findings(facts).all.contains { $0.code == .slotsFull })
    }

    @Test("versions of bluetoothd are read with what packagers add, and compared as numbers")
    func versions() {
        #expect(BluezVersion("5.66") == BluezVersion(5, 66))
        #expect(BluezVersion("5.82-1.1+rpt1") == BluezVersion(5, 82))
        #expect(BluezVersion("6.1.0-18-amd64") == BluezVersion(6, 1))
        for text in ["", "5", "bluetoothd", "5.", "x.1"] { #expect(BluezVersion(text) == nil) }
        #expect(BluezVersion(5, 9) < BluezVersion(5, 66))
    }

    @Test("the daemon's status is read as it is written; what is missing from it is nothing")
    func status() throws {
        let text = #"""
            {"bridge":{"version":"0.1.0","pid":42,"suspend":"weak","journal_health":"ok",
              "warnings":[{"code":"long-messages","what":"w","why":"y","advice":"a"}]},
             "handlers":[{"id":"a","state":"held","why":"x"}],
             "devices":[{"alias":"one","session":"open"},{"alias":"two","session":"paused"},{"alias":"t","session":null}],
             "adapters":[{"address":"A","most_links":3},{"address":"B","most_links":null,"scanning":true}]}
            """#
        let facts = BridgeFacts(status: try JSONValue(parsing: Array(text.utf8)[...]))
        #expect(facts.version == "0.1.0" && facts.process == 42 && facts.suspendsWeakly)
        #expect(facts.handlers == [.init("a", "held", "x")])
        #expect(facts.warnings == [.init(.longMessages, "w", "y", "a")])
        #expect(facts.sessions == [.init("two", .paused)] && facts.mostLinks == ["A": 3])
        #expect(facts.scanning == ["B"])
        #expect(BridgeFacts(status: .null) == BridgeFacts())
    }

    @Test("a scan of the daemon itself is not taken for that of another program")
    func ownScan() {
        var facts = wellFacts()
        facts.withAdapter { $0.isScanning = true }
        facts.withBridge { $0.scanning = ["00:1A:7D:DA:71:14"] }
        #expect(Findings(facts).all.contains { $0.code == .foreignScan })
        facts.withBridge { $0.scanning = ["00:1A:7D:DA:71:13"] }
        #expect(!Findings(facts).all.contains { $0.code == .foreignScan })
    }

    @Test("where another program scans, those that may be it are named with their services, and the fix is to share")
    func scanners() throws {
        var facts = wellFacts()
        facts.withAdapter { $0.isScanning = true }
        guard case .reached(.running(var bluez)) = facts.bus else { return #expect(Bool(false), "no bluetoothd runs") }
        bluez.clients = [BusClient("hass", process: 812, unit: "homeassistant.service"), BusClient("node", process: 9)]
        facts.bus = .reached(.running(bluez))
        let scan = try #require(Findings(facts).all.first { $0.code == .foreignScan })
        #expect(scan.why.hasSuffix("may scan: hass (process 812, homeassistant.service), node (process 9)."))
        #expect(scan.remedy == .act("end the scan there, or give that program an adapter of its own"))
    }
}
