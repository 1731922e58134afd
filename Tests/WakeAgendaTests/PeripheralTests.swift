// Peripherals: what centrals do reaches the handler once, and is confirmed only when it is sure to.
import TestBench
import Testing
import WakeModel

@testable import WakeAgenda

@Suite("Peripherals of handlers")
struct PeripheralTests {
    static let manifest = """
        {name: 'Pulse', services: [{uuid: '180d', characteristics: [
          {uuid: '2a37', properties: ['notify']},
          {uuid: '2a39', properties: ['write']},
          {uuid: '2a19', properties: ['read'], value: '64'},
          {uuid: '2b11', properties: ['read', 'notify', 'indicate']},
          {uuid: '2b12', properties: ['read'], dynamic: true},
          {uuid: '2b13', properties: ['write', 'write-without-response']},
          {uuid: '2b14', properties: ['read', 'write'], require: 'bonded'},
        ]}]}
        """
    private static let handler = AgendaWorld.handler
    private let watch = PeripheralCentral("C0:00:00:00:00:01", isBonded: true)
    private let phone = PeripheralCentral("40:00:00:00:00:02")

    private func configured() throws -> AgendaWorld {
        var world = AgendaWorld()
        try world.configure("{peripheral: \(Self.manifest)}")
        world.hear(.registered)
        world.hear(.advertised(nil))
        return world
    }

    private func write(
        _ request: UInt64, _ uuid: UInt32, _ bytes: [UInt8], at offset: Int = 0, from central: PeripheralCentral? = nil
    ) -> PeripheralReport {
        .written(
            PeripheralWrite(
                request: request, BluetoothUUID(short: uuid), bytes, at: offset, from: central ?? watch))
    }

    private func read(
        _ request: UInt64, _ uuid: UInt32, at offset: Int = 0, from central: PeripheralCentral? = nil
    ) -> PeripheralReport {
        .read(PeripheralRead(request: request, BluetoothUUID(short: uuid), at: offset, from: central ?? watch))
    }

    private func pulse(_ central: PeripheralCentral) -> PeripheralSubscription {
        PeripheralSubscription(BluetoothUUID(short: 0x2a37), central.address)
    }

    private func subscribe(_ central: PeripheralCentral) -> PeripheralReport {
        .subscribed(pulse(central), isBonded: central.isBonded, mtu: 185)
    }

    // MARK: Registration

    @Test("it is offered while its handler may run, without its name while no person is attached, and then with it")
    func offered() throws {
        var world = AgendaWorld()
        try world.configure("{peripheral: \(Self.manifest)}")
        #expect(world.peripheralCommands == ["offer", "advertise - 1s 180d"])
        #expect(world.waits("", .peripheral) == ["bluetoothd"])
        world.send(.situated(Self.handler, .attached))
        #expect(world.peripheralCommands.last == "advertise Pulse 100ms 180d")
        world.send(.situated(Self.handler, .stopped))
        #expect(world.peripheralCommands.last == "withdraw")
        #expect(world.waits("", .peripheral) == ["stopped"])
        world.send(.situated(Self.handler, .asleep))
        #expect(world.peripheralCommands.suffix(2) == ["offer", "advertise - 1s 180d"])
    }

    @Test("each hindrance is what it waits for, until centrals can use it")
    func hindrances() throws {
        var world = AgendaWorld()
        try world.configure("{peripheral: \(Self.manifest)}")
        let steps: [(PeripheralReport, String)] = [
            (.hindered(.bluetoothd), "bluetoothd"), (.hindered(.adapter), "adapter"),
            (.hindered(.refused("Not Permitted")), "bluetoothd"), (.registered, "central"),
            (.advertised(.slot), "advertising-slot"), (.advertised(nil), "central"), (.lost(.adapter), "adapter"),
        ]
        for (report, word) in steps {
            world.hear(report)
            #expect(world.waits("", .peripheral) == [word], "\(report)")
        }
        #expect(
            world.entry("", .peripheral)?.history.map(\.sentence).contains("bluetoothd refused it: Not Permitted")
                == true)
    }

    @Test("other services are registered anew, another name only advertised anew")
    func changedManifest() throws {
        var world = try configured()
        let before = world.peripheralCommands.count
        try world.configure("{peripheral: \(Self.manifest.replacing("'Pulse'", with: "'Heart', show_name: 'always'"))}")
        #expect(world.peripheralCommands.dropFirst(before) == ["advertise Heart 1s 180d"])
        try world.configure("{peripheral: \(Self.manifest.replacing("2a19", with: "2a20"))}")
        #expect(world.peripheralCommands.suffix(3) == ["withdraw", "offer", "advertise - 1s 180d"])
        try world.configure("{}")
        #expect(world.peripheralCommands.last == "withdraw")
        #expect(world.rows.isEmpty)
    }

    // MARK: Writes

    @Test("a write is confirmed when its event has a number, and the event says who wrote and whether a bond proves it")
    func writes() throws {
        var world = try configured()
        world.hear(write(7, 0x2a39, [1]))
        world.hear(write(8, 0x2b13, [2], from: phone))
        world.hear(write(9, 0x2a39, [3, 4], at: 20))
        #expect(world.peripheralCommands.suffix(3) == ["confirm 7", "confirm 8", "confirm 9"])
        #expect(
            world.peripheralStory == [
                #"peripheral.written {"service":"180d","characteristic":"2a39","central":"C0:00:00:00:00:01","bonded":true,"hex":"01","with_response":true}"#,
                #"peripheral.written {"service":"180d","characteristic":"2b13","central":"40:00:00:00:00:02","bonded":false,"hex":"02","with_response":false}"#,
                #"peripheral.written {"service":"180d","characteristic":"2a39","central":"C0:00:00:00:00:01","bonded":true,"hex":"0304","offset":20,"with_response":true}"#,
            ])
        #expect(world.authenticated == [true, false, true])
    }

    @Test("a central without a bond may not use what requires one, and nobody may write what can only be read")
    func refusals() throws {
        var world = try configured()
        world.hear(write(1, 0x2b14, [1], from: phone))
        world.hear(read(2, 0x2b14, from: phone))
        world.hear(write(3, 0x2a19, [1]))
        world.hear(read(4, 0x2a37))
        world.hear(read(5, 0x2a19, at: 2))
        #expect(
            world.peripheralCommands.suffix(5) == [
                "refuse 1 notBonded", "refuse 2 notBonded", "refuse 3 notPermitted", "refuse 4 notPermitted",
                "refuse 5 offset",
            ])
        #expect(world.raised.isEmpty)
    }

    @Test(
        "a handler that is 256 events behind gets no more: writes are refused, and those that none can refuse are one gap"
    )
    func flood() throws {
        var world = try configured()
        for number in 1...256 { world.hear(write(UInt64(number), 0x2b13, [UInt8(number & 255)])) }
        #expect(world.peripheralCommands.last == "confirm 256")
        for number in 257...260 { world.hear(write(UInt64(number), 0x2b13, [0])) }
        world.hear(write(261, 0x2a39, [0]))
        #expect(world.peripheralCommands.last == "refuse 261 application(128)")
        #expect(world.raised.count == 256)
        for sequence in world.heldSequences { world.conclude(sequence, .acknowledged(nil)) }
        #expect(world.losses == [4])
        world.hear(write(262, 0x2a39, [0]))
        #expect(world.peripheralCommands.last == "confirm 262")
    }

    // MARK: Reads

    @Test("a read gets the manifest's value, then the last one that was served, also after a restart and a reboot")
    func staticReads() throws {
        var world = try configured()
        world.hear(read(1, 0x2a19))
        try world.order(#"{"serve":{"characteristic":"2a19","hex":"63aa"}}"#)
        world.hear(read(2, 0x2a19))
        world.hear(read(3, 0x2a19, at: 1))
        #expect(world.peripheralCommands.suffix(3) == ["answer 1 64", "answer 2 63aa", "answer 3 aa"])
        world.restart()
        world.reboot(off: .seconds(60))
        world.hear(.registered)
        world.hear(read(4, 0x2a19))
        #expect(world.peripheralCommands.last == "answer 4 63aa")
        #expect(world.raised.isEmpty)
    }

    @Test("a dynamic read asks the handler, and the rest of a long value comes from the same answer")
    func dynamicReads() throws {
        var world = try configured()
        world.hear(read(5, 0x2b12))
        let request = try #require(world.requests.last)
        #expect(try world.order(#"{"serve":{"request":\#(request),"hex":"010203"}}"#).word == "served")
        world.hear(read(6, 0x2b12, at: 2))
        #expect(world.peripheralCommands.suffix(2) == ["answer 5 010203", "answer 6 03"])
        #expect(try world.order(#"{"serve":{"request":\#(request),"hex":"01"}}"#).fault?.code == .tooLate)
        world.hear(read(7, 0x2b12))
        let second = try #require(world.requests.last)
        try world.order(#"{"serve":{"request":\#(second),"refuse":129}}"#)
        #expect(world.peripheralCommands.last == "refuse 7 application(129)")
    }

    @Test("a handler that is not in time has the last value given in its place, and its event is taken back")
    func lateReads() throws {
        var world = try configured()
        try world.order(#"{"serve":{"characteristic":"2b12","hex":"09"}}"#)
        world.hear(read(5, 0x2b12))
        world.pass(.milliseconds(4_499))
        #expect(world.peripheralCommands.last != "answer 5 09")
        world.pass(.milliseconds(1))
        #expect(world.peripheralCommands.last == "answer 5 09")
        #expect(world.heldSequences.isEmpty)
    }

    // MARK: Subscribers

    @Test("a served value goes to each subscriber, or to the chosen ones, and to none that has gone")
    func notifications() throws {
        var world = try configured()
        world.hear(subscribe(watch))
        world.hear(subscribe(phone))
        try world.order(#"{"serve":{"characteristic":"2a37","hex":"0048"}}"#)
        #expect(world.peripheralCommands.suffix(2) == ["send 0048 \(phone.address)", "send 0048 \(watch.address)"])
        try world.order(#"{"serve":{"characteristic":"2a37","hex":"0049","centrals":["\#(watch.address)"]}}"#)
        #expect(world.peripheralCommands.last == "send 0049 \(watch.address)")
        world.hear(.unsubscribed(pulse(watch)))
        world.hear(.unsubscribed(pulse(watch)))
        try world.order(#"{"serve":{"characteristic":"2a37","hex":"0050"}}"#)
        #expect(world.peripheralCommands.last == "send 0050 \(phone.address)")
        #expect(
            world.raised.map(\.occasion.name) == [
                "peripheral.subscribed", "peripheral.subscribed", "peripheral.unsubscribed",
            ])
        #expect(world.payload(0).hasSuffix(#""bonded":true,"mtu":185}"#))
        #expect(world.payload(2).hasSuffix(#""bonded":true,"reason":"central"}"#))
    }

    @Test(
        "a subscriber that takes no more gets the latest value when it does, and the handler learns that it is behind")
    func backPressure() throws {
        var world = try configured()
        world.hear(subscribe(watch))
        for _ in 0..<32 {
            #expect(try world.order(#"{"serve":{"characteristic":"2a37","hex":"00"}}"#).word == "served")
        }
        let sent = world.peripheralCommands.count
        #expect(try world.order(#"{"serve":{"characteristic":"2a37","hex":"01"}}"#).word == "behind")
        #expect(try world.order(#"{"serve":{"characteristic":"2a37","hex":"02"}}"#).word == "behind")
        #expect(world.peripheralCommands.count == sent)
        world.hear(.sent(pulse(watch), count: 1))
        #expect(world.peripheralCommands.dropFirst(sent) == ["send 02 \(watch.address)"])
        #expect(try world.order(#"{"serve":{"characteristic":"2a37","hex":""}}"#).word == "served")
    }

    @Test(
        "a subscriber that is back within 30 s of bluetoothd's or the bridge's death was never away, and gets what it missed"
    )
    func keptSubscriptions() throws {
        var world = try configured()
        world.hear(subscribe(watch))
        world.hear(.lost(.bluetoothd))
        #expect(try world.order(#"{"serve":{"characteristic":"2a37","hex":"0051"}}"#).word == "behind")
        world.hear(.registered)
        world.pass(.seconds(29))
        world.hear(subscribe(watch))
        #expect(world.peripheralCommands.last == "send 0051 \(watch.address)")
        world.restart()
        world.hear(.registered)
        world.hear(subscribe(watch))
        world.pass(.seconds(60))
        #expect(world.raised.count == 1)
        world.hear(.lost(.bluetoothd))
        world.pass(.seconds(30))
        #expect(world.payload(1).hasSuffix(#""reason":"lost"}"#))
        #expect(world.raised.count == 2)
    }

    @Test("an indication that the central confirmed is an event")
    func confirmations() throws {
        var world = try configured()
        world.hear(subscribe(watch))
        world.hear(.confirmed(pulse(watch)))
        world.hear(.confirmed(pulse(phone)))
        #expect(world.raised.map(\.occasion.name) == ["peripheral.subscribed", "peripheral.confirmed"])
    }

    // MARK: A random walk

    @Test(
        "whatever happens, each confirmed write is raised once or counted as lost, and each request is answered once",
        arguments: 1...60)
    func walk(seed: UInt64) throws {
        var dice = Dice(seed)
        var world = try configured()
        var request: UInt64 = 0
        var (written, owed): ([UInt64: Bool], Set<UInt64>) = ([:], [])
        for _ in 0..<400 {
            let before = world.effects.count
            request += 1
            let bytes = withUnsafeBytes(of: request.bigEndian) { Array($0) }
            switch dice.below(14) {
            case 0...3:
                let uuid: UInt32 = dice.isOne(in: 2) ? 0x2a39 : 0x2b13
                written[request] = uuid == 0x2b13
                owed.insert(request)
                world.hear(write(request, uuid, bytes, from: dice.isOne(in: 2) ? watch : phone))
            case 4...5:
                owed.insert(request)
                world.hear(read(request, dice.isOne(in: 2) ? 0x2b12 : 0x2a19, at: dice.below(2)))
            case 6: world.hear(dice.isOne(in: 2) ? subscribe(watch) : .unsubscribed(pulse(watch)))
            case 7: for sequence in world.heldSequences { world.conclude(sequence, .acknowledged(nil)) }
            case 8:
                if let number = world.requests.last {
                    try world.order(#"{"serve":{"request":\#(number),"hex":"01"}}"#)
                }
            case 9: try world.order(#"{"serve":{"characteristic":"2a37","hex":"01"}}"#)
            case 10: world.pass(.seconds(Int64(dice.below(40))))
            case 11:
                // Bluetoothd answers no request of an earlier life.
                owed = []
                world.hear(.lost(.bluetoothd))
                world.hear(.registered)
            case 12: world.send(.situated(Self.handler, [.asleep, .awake, .stopped, .attached][dice.below(4)]))
            default:
                owed = []
                world.restart()
                world.hear(.registered)
            }
            for answer in world.effects.dropFirst(before).compactMap(\.answeredRequest) {
                #expect(owed.remove(answer) != nil, "request \(answer) is answered twice, or to no one")
            }
        }
        world.pass(.seconds(5))
        for answer in world.effects.compactMap(\.answeredRequest) { owed.remove(answer) }
        #expect(owed.isEmpty)
        for sequence in world.heldSequences { world.conclude(sequence, .acknowledged(nil)) }
        let raised = world.raised.filter { $0.occasion.name == "peripheral.written" }.compactMap(\.writtenRequest)
        #expect(Set(raised).count == raised.count)
        for confirmed in world.confirmedWrites { #expect(raised.contains(confirmed), "\(confirmed) is lost") }
        #expect(Set(raised).subtracting(written.keys).isEmpty)
    }
}

extension AgendaEffect {
    /// The request that a command answers.
    fileprivate var answeredRequest: UInt64? {
        guard let command = action(PeripheralCommand.self)?.action else { return nil }
        switch command {
        case .confirm(let request), .answer(let request, _), .refuse(let request, _): return request
        case .offer, .withdraw, .advertise, .send: return nil
        }
    }
}

extension AgendaWorld.Raised {
    /// The walk writes the number of each request as its value.
    fileprivate var writtenRequest: UInt64? {
        (try? JSONValue(parsing: occasion.payload))?["hex"]?.string.flatMap { UInt64($0, radix: 16) }
    }
}

extension AgendaWorld {
    mutating func hear(_ report: PeripheralReport) { send(.peripheral(Self.handler, report)) }

    /// The commands to the executor of peripherals, in words.
    fileprivate var peripheralCommands: [String] {
        effects.compactMap { effect in
            guard let command = effect.action(PeripheralCommand.self)?.action else { return nil }
            return switch command {
            case .offer: "offer"
            case .withdraw: "withdraw"
            case .advertise(nil): "silence"
            case .advertise(let wanted?):
                "advertise \(wanted.name ?? "-") \(wanted.interval.text) \(wanted.services.map(\.description).joined(separator: ","))"
            case .confirm(let request): "confirm \(request)"
            case .answer(let request, let bytes): "answer \(request) \(bytes.hexadecimal)"
            case .refuse(let request, let refusal): "refuse \(request) \(refusal)"
            case .send(let bytes, let subscription): "send \(bytes.hexadecimal) \(subscription.central)"
            }
        }
    }

    fileprivate var confirmedWrites: [UInt64] {
        effects.compactMap { effect in
            if case .confirm(let request)? = effect.action(PeripheralCommand.self)?.action { request } else { nil }
        }
    }

    fileprivate var peripheralStory: [String] { raised.indices.map { "\(raised[$0].occasion.name) \(payload($0))" } }

    fileprivate var authenticated: [Bool] {
        effects.compactMap { if case .report(_, _, let isAuthenticated) = $0 { isAuthenticated } else { nil } }
    }

    fileprivate var losses: [UInt64] {
        effects.compactMap { if case .lose(_, let gap) = $0 { gap.count } else { nil } }
    }

    /// The numbers of the reads that the handler was asked.
    fileprivate var requests: [Int64] {
        raised.compactMap { (try? JSONValue(parsing: $0.occasion.payload))?["request"]?.integer }
    }
}
