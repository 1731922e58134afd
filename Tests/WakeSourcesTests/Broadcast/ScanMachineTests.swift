// How an adapter is brought to listen: by a monitor, or by a scan that gives way to links.
import TestBench
import Testing
import WakeModel

@testable import WakeSources

@Suite("Listening for broadcasts with an adapter")
struct ScanMachineTests {
    private struct Adapter {
        var machine = ScanMachine()
        var now = Instant.zero + .seconds(10)
        var facts = ScanFacts(isWanted: true)
        private(set) var requests: [ScanRequest] = []

        mutating func send(_ input: ScanInput) {
            let next = machine.step(input, at: now)
            requests += next
        }

        mutating func look() { send(.facts(facts)) }

        /// A scan is begun, and runs.
        mutating func begin() {
            look()
            send(.answered(.startDiscovery, failed: false))
            send(.looked(isScanning: true))
            _ = removeRequests()
        }

        mutating func setDiscovering(_ isDiscovering: Bool) {
            facts.isDiscovering = isDiscovering
            look()
        }

        mutating func pass(_ span: TimeSpan) {
            now = now + span
            send(.tick)
        }

        mutating func removeRequests() -> [ScanRequest] {
            defer { requests = [] }
            return requests
        }
    }

    @Test("with monitors one is registered, and it listens once the kernel has activated it")
    func monitor() {
        var adapter = Adapter()
        adapter.facts.hasMonitors = true
        adapter.look()
        #expect(adapter.removeRequests() == [.registerMonitor] && !adapter.machine.isListening)
        adapter.send(.activated)
        adapter.pass(.seconds(10_000))
        #expect(adapter.machine.isListening && adapter.removeRequests().isEmpty)
    }

    @Test("a monitor that is not activated within two seconds is given up for a scan, and not asked for again")
    func notActivated() {
        var adapter = Adapter()
        adapter.facts.hasMonitors = true
        adapter.look()
        adapter.send(.answered(.registerMonitor, failed: false))
        adapter.pass(.milliseconds(1_999))
        #expect(adapter.removeRequests() == [.registerMonitor])
        adapter.pass(.milliseconds(1))
        #expect(adapter.removeRequests() == [.unregisterMonitor, .startDiscovery])
        adapter.send(.answered(.startDiscovery, failed: false))
        for _ in 0..<10 { adapter.pass(.seconds(100)) }
        #expect(!adapter.removeRequests().contains(.registerMonitor))
    }

    @Test("one that bluetoothd refuses or lets go is a scan from then on")
    func refused() {
        var adapter = Adapter()
        adapter.facts.hasMonitors = true
        adapter.look()
        adapter.send(.answered(.registerMonitor, failed: true))
        #expect(adapter.removeRequests() == [.registerMonitor, .startDiscovery])
        var other = Adapter()
        other.facts.hasMonitors = true
        other.look()
        other.send(.activated)
        other.send(.released)
        #expect(other.removeRequests() == [.registerMonitor, .startDiscovery])
    }

    @Test("a monitor that looks for something else takes the place of the former one; where none can, a scan does")
    func otherPatterns() {
        var adapter = Adapter()
        adapter.facts.hasMonitors = true
        adapter.look()
        adapter.send(.activated)
        _ = adapter.removeRequests()
        adapter.facts.edition += 1
        adapter.look()
        #expect(adapter.removeRequests() == [.unregisterMonitor, .registerMonitor])
        adapter.send(.activated)
        adapter.look()
        #expect(adapter.removeRequests().isEmpty && adapter.machine.isMonitoring)
        adapter.facts.hasMonitors = false
        adapter.look()
        #expect(adapter.removeRequests() == [.unregisterMonitor, .startDiscovery])
    }

    @Test("a scan that is still starting when a link begins is ended, and its late answer changes nothing")
    func startsLate() {
        for isWanted in [true, false] {
            var adapter = Adapter()
            adapter.look()
            _ = adapter.removeRequests()
            (adapter.facts.isLinking, adapter.facts.isWanted) = (isWanted, isWanted)
            adapter.look()
            #expect(adapter.removeRequests() == [.stopDiscovery])
            adapter.send(.answered(.startDiscovery, failed: false))
            #expect(adapter.removeRequests().isEmpty && !adapter.machine.isListening)
        }
    }

    @Test("a scan that stops by no doing of ours is begun again, also where that happens before its answer is here")
    func stopped() {
        var adapter = Adapter()
        adapter.begin()
        adapter.setDiscovering(true)
        adapter.pass(.seconds(59))
        #expect(adapter.removeRequests() == [])
        adapter.setDiscovering(false)
        #expect(adapter.removeRequests() == [.look])
        adapter.send(.looked(isScanning: false))
        #expect(adapter.removeRequests() == [.stopDiscovery] && !adapter.machine.isListening)
        adapter.pass(.milliseconds(500))
        #expect(adapter.removeRequests() == [.startDiscovery])
        adapter.setDiscovering(true)
        adapter.setDiscovering(false)
        adapter.send(.answered(.startDiscovery, failed: false))
        #expect(adapter.removeRequests() == [.look])
        adapter.send(.looked(isScanning: false))
        #expect(adapter.removeRequests() == [.stopDiscovery])
    }

    @Test("an end that is told while bluetoothd is asked is asked for too: the first answer may be older")
    func endsWhileAsked() {
        var adapter = Adapter()
        adapter.look()
        adapter.send(.answered(.startDiscovery, failed: false))
        _ = adapter.removeRequests()
        adapter.setDiscovering(true)
        adapter.setDiscovering(false)
        #expect(adapter.removeRequests() == [.look])
        adapter.send(.looked(isScanning: true))
        #expect(adapter.removeRequests() == [])
        adapter.send(.looked(isScanning: false))
        #expect(adapter.removeRequests() == [.stopDiscovery])
    }

    @Test("in a crowd, what the adapter says comes late or never, and a scan that bluetoothd confirms goes on")
    func lateWords() {
        var adapter = Adapter()
        adapter.begin()
        adapter.pass(.seconds(15))
        // Of the scan before.
        adapter.setDiscovering(true)
        adapter.setDiscovering(false)
        #expect(adapter.removeRequests() == [.look])
        adapter.send(.looked(isScanning: true))
        adapter.pass(.seconds(44))
        #expect(adapter.removeRequests() == [] && adapter.machine.isListening)
    }

    @Test("a scan that is answered and does not run is begun again after longer and longer")
    func neverRuns() {
        var adapter = Adapter()
        adapter.look()
        for wait in [500, 1_000, 2_000, 4_000] {
            adapter.send(.answered(.startDiscovery, failed: false))
            adapter.send(.looked(isScanning: false))
            _ = adapter.removeRequests()
            adapter.pass(.milliseconds(Int64(wait) - 1))
            #expect(adapter.removeRequests().isEmpty)
            adapter.pass(.milliseconds(1))
            #expect(adapter.removeRequests() == [.startDiscovery])
        }
    }

    @Test("a scan rests for a moment each minute, so that others have the radio")
    func rests() {
        var adapter = Adapter()
        adapter.begin()
        adapter.pass(.seconds(60))
        #expect(adapter.removeRequests() == [.stopDiscovery])
        adapter.pass(.seconds(2))
        #expect(adapter.removeRequests() == [.startDiscovery])
    }

    @Test("while a link is being made no scan runs, and afterwards it goes on")
    func yields() {
        var adapter = Adapter()
        adapter.look()
        adapter.send(.answered(.startDiscovery, failed: false))
        _ = adapter.removeRequests()
        adapter.facts.isLinking = true
        adapter.look()
        #expect(adapter.removeRequests() == [.stopDiscovery] && !adapter.machine.isListening)
        adapter.pass(.seconds(1_000))
        #expect(adapter.removeRequests().isEmpty)
        adapter.facts.isLinking = false
        adapter.look()
        #expect(adapter.removeRequests() == [.startDiscovery])
    }

    @Test("a refused scan is tried again after longer and longer, a minute at most")
    func backsOff() {
        var adapter = Adapter()
        adapter.look()
        var waits: [TimeSpan] = []
        for _ in 0..<10 {
            adapter.send(.answered(.startDiscovery, failed: true))
            guard let due = adapter.machine.deadline else { break }
            waits.append(due - adapter.now)
            adapter.pass(due - adapter.now)
        }
        #expect(waits.count == 10 && waits.first == .milliseconds(500) && waits.last == .seconds(60))
    }

    @Test("when nothing is to be heard any more, whatever runs is ended")
    func ends() {
        var adapter = Adapter()
        adapter.look()
        adapter.send(.answered(.startDiscovery, failed: false))
        adapter.facts.isWanted = false
        adapter.look()
        #expect(adapter.removeRequests().last == .stopDiscovery && adapter.machine.deadline == nil)
    }

    @Test("in whatever order things happen, a scan never runs while a link is made", arguments: 1...100)
    func random(seed: UInt64) {
        var dice = Dice(seed)
        var adapter = Adapter()
        var isScanning = false
        var isStarting = false
        for _ in 0..<500 {
            switch dice.below(9) {
            case 0: adapter.facts.isLinking.toggle()
            case 1: adapter.facts.isWanted.toggle()
            case 2: if dice.isOne(in: 2) { adapter.facts.hasMonitors.toggle() } else { adapter.facts.edition += 1 }
            case 3:
                guard isStarting else { continue }
                let failed = dice.isOne(in: 3)
                (isStarting, isScanning) = (false, !failed)
                adapter.send(.answered(.startDiscovery, failed: failed))
            case 4: adapter.send(.answered(.registerMonitor, failed: dice.isOne(in: 3)))
            case 5: adapter.send(dice.isOne(in: 2) ? .activated : .released)
            case 6:
                if dice.isOne(in: 2) {
                    adapter.facts.isDiscovering.toggle()
                } else {
                    adapter.send(.looked(isScanning: dice.isOne(in: 2)))
                }
            default: adapter.pass(.milliseconds(Int64(dice.below(5_000))))
            }
            adapter.look()
            for request in adapter.removeRequests() {
                switch request {
                case .startDiscovery: isStarting = true
                case .stopDiscovery: (isStarting, isScanning) = (false, false)
                case .registerMonitor, .unregisterMonitor, .look: break
                }
            }
            #expect(!isScanning || !adapter.facts.isLinking || adapter.machine.isMonitoring)
            #expect(!isScanning || adapter.facts.isWanted)
        }
    }
}
