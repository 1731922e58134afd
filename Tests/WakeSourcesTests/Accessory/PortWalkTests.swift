// Walks of chance through an accessory's life: whatever comes in whatever order, every word is told or lies in one gap, and every
// plug and unplug is told or counted.
import TestBench
import Testing
import WakeModel
import WakeSystem

@testable import WakeSources

@Suite("Walks of an accessory's node")
struct PortWalkTests {
    private static let plans = [
        AccessoryPlan(node: .serial), AccessoryPlan(node: .serial, settle: .zero, replugGrace: .zero),
        AccessoryPlan(node: .serial, onSuspend: .detach), AccessoryPlan(node: .hid, settle: .milliseconds(100)),
    ]

    @Test(
        "every word is told once and in order, or lies within exactly one gap or outside of any connection",
        arguments: 0..<400)
    func accounts(seed: Int) {
        var dice = Dice(UInt64(seed))
        var bench = PortBench(Self.plans[seed % 4])
        var words: [(text: String, at: WallTime, isAttached: Bool)] = []
        for number in 1...300 {
            bench.wait(.milliseconds(Int64(1 + dice.below(1_500))))
            bench.isSlow = dice.isOne(in: 3)
            if dice.isOne(in: 2) { bench.answer() }
            switch dice.below(12) {
            case 0: bench.plug()
            case 1: bench.unplug()
            case 2: bench.take(.lost)
            case 3: bench.take(.session([.open, .paused, .closed][dice.below(3)]))
            case 4: bench.take(.session(.open))
            case 5: bench.take(.wanted(dice.isOne(in: 2)))
            case 6: bench.refusal = dice.isOne(in: 2) ? .denied("no") : nil
            case 7: bench.take(.changed)
            default:
                words.append(("\(number)", bench.now.wall, bench.machine.isAttached))
                bench.say("\(number)")
            }
        }
        bench.refusal = nil
        bench.isSlow = false
        bench.answer()
        bench.wait(.milliseconds(1))
        bench.take(.session(.open))
        bench.take(.wanted(true))
        bench.plug()
        bench.wait(.seconds(60))
        bench.say("301")
        #expect(bench.story.last == ":301", "in the end it is connected and heard")
        check(bench, words)
    }

    private func check(_ bench: PortBench, _ words: [(text: String, at: WallTime, isAttached: Bool)]) {
        let told = bench.told.compactMap { event -> String? in
            guard case .data(_, let bytes) = event.kind else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }
        #expect(told == told.sorted { Int($0) ?? 0 < Int($1) ?? 0 } && Set(told).count == told.count)
        for word in words where !told.contains(word.text) {
            let gaps = bench.gaps.filter { $0.from <= word.at && word.at <= $0.to }
            #expect(gaps.count == 1 || !word.isAttached || bench.isDisconnected(at: word.at), "\(word)")
        }
        let ends = bench.gaps.map { ($0.from, $0.to) }
        for (gap, next) in zip(ends, ends.dropFirst()) { #expect(gap.1 <= next.0, "gaps overlap: \(gap) \(next)") }
        expectAlternation(bench)
    }

    /// Between a connect and the next stands a disconnect, unless flips were folded into it.
    private func expectAlternation(_ bench: PortBench) {
        var isConnected = false
        for event in bench.told {
            switch event.kind {
            case .connected(let folded):
                #expect(!isConnected || folded > 0)
                isConnected = true
            case .disconnected:
                #expect(isConnected)
                isConnected = false
            case .data: #expect(isConnected)
            case .gap, .attention, .occasion: break
            }
        }
    }

    @Test("of ten thousand plugs and unplugs each is told or counted in what is folded", arguments: [1, 7, 2026])
    func countsEdges(seed: UInt64) {
        var dice = Dice(seed)
        var bench = PortBench(AccessoryPlan(node: .serial))
        var edges: UInt32 = 0
        for _ in 1...5_000 {
            // Udev's rules come late now and then, and the node is not ours until they have run.
            bench.refusal = dice.isOne(in: 3) ? .denied("not yet") : nil
            bench.plug()
            bench.wait(.milliseconds(Int64(dice.below(700))))
            bench.refusal = nil
            bench.wait(.milliseconds(Int64(dice.below(dice.isOne(in: 4) ? 20_000 : 900))))
            bench.unplug()
            bench.wait(.milliseconds(Int64(dice.below(dice.isOne(in: 4) ? 20_000 : 900))))
            edges += 2
        }
        bench.wait(.seconds(120))
        bench.plug()
        edges += 1
        bench.wait(.seconds(120))
        var counted: UInt32 = 0
        for event in bench.told {
            switch event.kind {
            case .connected(let folded), .disconnected(_, let folded): counted += 1 + folded
            case .data, .gap, .attention, .occasion: break
            }
        }
        #expect(counted == edges)
        #expect(!bench.told.contains { if case .attention(.accessDenied, _) = $0.kind { true } else { false } })
    }
}
