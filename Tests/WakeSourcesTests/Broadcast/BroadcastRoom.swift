// A room of broadcasters for tests, with a judge that says who is meant and what a profile reads of them.
import TestBench
import Testing
import WakeModel
import WakeProfiles

@testable import WakeSources

/// Knows those whose data begin with a company's number 0x0499, and reads what is longer than that.
struct RoomJudge: BroadcastJudge {
    var meant: Set<RadioAddress> = []
    var names: [RadioAddress: String] = [:]
    /// Profiles that handlers watch.
    var watched: Set<String> = ["tag"]
    /// A profile fits each device that offers more services than this.
    var mostServices = Int.max

    func isMeant(_ address: RadioAddress) -> Bool { meant.contains(address) }

    func plan(for sighting: Sighting) -> BroadcastPlan? {
        if sighting.data.dropFirst().starts(with: [0xff, 0x34, 0x12]) {
            return BroadcastPlan(profile: "probe", index: ProfileIndex(rawValue: 1))
        }
        guard sighting.data.dropFirst().starts(with: [0xff, 0x99, 0x04]) || sighting.services.count > mostServices
        else {
            return nil
        }
        return BroadcastPlan(profile: "tag", index: ProfileIndex(rawValue: 0))
    }

    func better(than plan: BroadcastPlan, for sighting: Sighting) -> BroadcastPlan? {
        guard !watched.contains(plan.profile), let other = self.plan(for: sighting) else { return nil }
        return watched.contains(other.profile) ? other : nil
    }

    func reads(_ data: [UInt8], by plan: BroadcastPlan) -> Bool { data.count > 4 }

    func standing(of address: RadioAddress, _ plan: BroadcastPlan) -> (alias: String, isMeant: Bool) {
        (names[address] ?? "tag-\(address.number)", meant.contains(address))
    }
}

struct Room {
    var watch: BroadcastWatch
    var judge = RoomJudge()
    var listening = ListeningTime()
    var now = Instant.zero + .seconds(1_000)
    /// What was told, by address.
    private(set) var told: [RadioAddress: [BroadcastWatch.Effect]] = [:]
    private(set) var all: [BroadcastWatch.Effect] = []

    init(_ rules: BroadcastRules = BroadcastRules()) {
        watch = BroadcastWatch(rules)
        listening.set(isListening: true, at: now)
    }

    static func address(_ number: UInt64) -> RadioAddress { RadioAddress(number: 0xc0de_0000_0000 + number) }
    static func data(_ bytes: UInt8...) -> [UInt8] { [3 + UInt8(bytes.count), 0xff, 0x99, 0x04] + bytes }

    mutating func hear(_ number: UInt64, _ data: [UInt8]) {
        let listened = listening.time(at: now)
        keep(watch.hear(Sighting(Self.address(number), data), judge, at: now, listened: listened))
    }

    mutating func reconsider() { keep(watch.reconsider(judge)) }

    /// As when other profiles were read.
    mutating func changeProfiles() {
        watch.outdatePlans()
        reconsider()
    }

    /// Time passes, and the watch is asked whenever it wanted to be.
    mutating func pass(_ span: TimeSpan) {
        let end = now + span
        while let due = watch.nextEnd.flatMap({ listening.due(at: $0) }), due <= end {
            now = max(now, due)
            let effects = watch.settle(listened: listening.time(at: now))
            if effects.isEmpty { break }
            keep(effects)
        }
        now = end
    }

    mutating func listen(_ isListening: Bool) { listening.set(isListening: isListening, at: now) }

    private mutating func keep(_ effects: [BroadcastWatch.Effect]) {
        all += effects
        for effect in effects {
            let uri =
                switch effect {
                case .introduce(let device, _): device.uri
                case .raise(_, let uri): uri
                }
            guard let address = Device.bluetoothAddress(in: uri).flatMap({ RadioAddress($0) }) else { continue }
            told[address, default: []].append(effect)
        }
    }

    /// Of one of them: `+` for its coming, `-` for its going, and the number that it said.
    func story(of number: UInt64) -> [String] {
        (told[Self.address(number)] ?? []).compactMap { effect in
            guard case .raise(let kind, _) = effect else { return nil }
            switch kind {
            case .connected: return "+"
            case .disconnected(let reason, _): return "-\(reason)"
            case .data(_, let bytes): return "\(bytes.dropFirst(4).reduce(0) { $0 << 8 | Int($1) })"
            case .gap, .attention, .occasion: return "?"
            }
        }
    }
}
