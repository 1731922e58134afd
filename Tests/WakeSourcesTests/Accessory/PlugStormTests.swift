// Ten thousand plugs and unplugs of real lines, through all of the source but udev: each is told or counted, nothing is kept.
import Glibc
import Synchronization
import TestBench
import Testing
import WakeModel

@testable import WakeSources
@testable import WakeSystem

/// Udev's rules come late now and then: so many of the next openings are refused.
private final class Doorkeeper: Sendable {
    private let refusals = Mutex(0)

    func refuse(_ count: Int) { refusals.withLock { $0 = count } }

    func open(_ path: String, _ plan: AccessoryPlan) throws(SystemError) -> any NodeHandle {
        let isRefused = refusals.withLock { count in
            count -= 1
            return count >= 0
        }
        if isRefused { throw SystemError("open", path, .denied) }
        return try NodeFiles.node(path, plan)
    }
}

@Suite("A storm of plugs")
struct PlugStormTests {
    private static let (devices, visits) = (10, 500)

    private static func source(_ number: Int) -> String { "/accessory/2341:0043:S\(number):00" }

    private func phase(_ bench: AccessoryBench, _ number: Int) -> PortMachine.Phase? {
        bench.source.watched[Self.source(number)]?.machine.phase
    }

    /// Turns the loop until nothing is being opened, and what was refused has had its next tries.
    private func settle(_ bench: AccessoryBench) throws {
        for _ in 1...50 {
            let isDone = try bench.turn {
                (1...Self.devices).allSatisfy { number in
                    if case .opening = phase(bench, number) { false } else { true }
                }
            }
            try #require(isDone)
            if (1...Self.devices).allSatisfy({ phase(bench, $0) == .open }) { return }
            bench.sleep(.milliseconds(200))
        }
        Issue.record("some could never be opened")
    }

    @Test(
        "of ten thousand edges each is told or counted in what is folded, no refusal surfaces, and no descriptor is kept"
    )
    func counts() throws {
        let bench = try AccessoryBench()
        bench.plan = AccessoryPlan(node: .serial, framing: .line)
        let (door, gadgets) = (Doorkeeper(), try (1...Self.devices).map { _ in try Gadget() })
        bench.source.files = NodeFiles(on: bench.loop) { path, plan throws(SystemError) in try door.open(path, plan) }
        var dice = Dice(4)
        NodeClosing.wait(atMost: .seconds(1))
        let before = names(in: "/proc/self/fd").count
        for visit in 1...Self.visits {
            door.refuse(dice.below(4))
            for (place, gadget) in gadgets.enumerated() {
                bench.plug(gadget, port: "\(place + 1)", serial: "S\(place + 1)")
            }
            // One visit in five is over before any node is open.
            let isCutShort = dice.isOne(in: 5) && visit < Self.visits
            if !isCutShort { try settle(bench) }
            bench.sleep(.milliseconds(Int64(dice.below(!isCutShort && dice.isOne(in: 4) ? 20_000 : 900))))
            if visit == Self.visits { bench.sleep(.seconds(120)) }
            for place in gadgets.indices { bench.unplug(port: "\(place + 1)", serial: "S\(place + 1)") }
            bench.sleep(.milliseconds(Int64(dice.below(dice.isOne(in: 4) ? 20_000 : 900))))
            guard visit % 50 == 0 else { continue }
            #expect(try bench.turn { names(in: "/proc/self/fd").count <= before }, "after \(visit) visits each")
        }
        bench.sleep(.seconds(120))
        expectAccount(of: bench)
    }

    private func expectAccount(of bench: AccessoryBench) {
        var counted: [String: Int] = [:]
        var (told, surfaced) = (0, 0)
        for event in bench.told {
            switch event.kind {
            case .connected(let folded), .disconnected(_, let folded):
                counted[event.source, default: 0] += 1 + Int(folded)
                told += 1
            case .attention(.accessDenied, _): surfaced += 1
            case .attention, .data, .gap, .occasion: break
            }
        }
        #expect(counted.count == Self.devices && counted.values.allSatisfy { $0 == 2 * Self.visits }, "\(counted)")
        #expect(counted.values.reduce(0, +) == 10_000)
        #expect(told > 100 && told < 10_000, "some are told, and some folded: \(told)")
        #expect(surfaced == 0)
    }
}
