// Twins: devices of one kind with the same serial number or none, told apart by their ports or asked about, never guessed.
import TestBench
import Testing
import WakeSources

private func twin(_ port: Int, serial: String? = nil) -> AccessoryIdentity {
    AccessoryIdentity(vendor: "1a86", product: "7523", serial: serial, interface: "00", port: "hub-usb-\(port)")
}

private func byPort(_ port: Int) -> String { "/accessory/1a86:7523:@hub-usb-\(port):00" }

private func read(_ lines: [String]) -> (registry: AccessoryRegistry, complaints: [String]) {
    var registry = AccessoryRegistry()
    let complaints = lines.compactMap { registry.add(line: Array($0.utf8)[...]) }
    return (registry, complaints)
}

extension AccessoryRegistry.Resolution {
    /// Nil unless it was seen for the first time.
    fileprivate var newSource: String? { if case .new(let source) = self { source } else { nil } }
}

/// A machine with ports, the registry that remembers it, and what is plugged in.
private struct Desk {
    var registry = AccessoryRegistry()
    /// By port: the source, nil while it is asked about.
    var plugged: [Int: String?] = [:]
    var serial: String?

    var attached: Set<String> { Set(plugged.values.compactMap { $0 }) }

    @discardableResult
    mutating func plug(_ port: Int, waiting: [Int] = []) -> AccessoryRegistry.Resolution {
        let unresolved = waiting + plugged.filter { $0.value == nil }.keys
        let resolution = registry.resolve(
            twin(port, serial: serial), attached: attached, waiting: unresolved.map { twin($0, serial: serial) })
        switch resolution {
        case .known(let source), .new(let source): plugged[port] = .some(source)
        case .ambiguous: plugged[port] = .some(nil)
        }
        return resolution
    }

    mutating func unplug(_ port: Int) { plugged[port] = nil }

    /// Power goes and comes: all ports in this order, each while those after it wait. The registry goes through its file.
    mutating func restart(_ order: [Int]) -> [AccessoryRegistry.Resolution] {
        registry = read(registry.lines).registry
        plugged = [:]
        return order.indices.map { plug(order[$0], waiting: Array(order[($0 + 1)...])) }
    }
}

@Suite("Twins among accessories")
struct RegistryTests {
    @Test("a device with a serial number is the same on every port, over restarts")
    func serial() {
        var desk = Desk(serial: "7583")
        let source = "/accessory/1a86:7523:7583:00"
        #expect(desk.plug(1) == .new(source))
        desk.unplug(1)
        #expect(desk.plug(2) == .known(source))
        #expect(desk.restart([3]) == [.known(source)])
        #expect(desk.registry.uris == [source])
    }

    @Test(
        "two without serial numbers are their ports, in whatever order they come after power-on",
        arguments: [nil, "0001"])
    func powerOnOrder(serial: String?) throws {
        var desk = Desk(serial: serial)
        let (first, second) = (desk.plug(1).newSource, desk.plug(2).newSource)
        let (one, two) = (try #require(first), try #require(second))
        #expect(one != two)
        desk.registry.setName("left", of: one)
        desk.registry.setName("right", of: two)
        for order in [[2, 1], [1, 2], [2, 1]] {
            #expect(desk.restart(order) == order.map { .known($0 == 1 ? one : two) })
        }
        #expect(desk.registry.name(of: one) == "left" && desk.registry.name(of: two) == "right")
        for port in [1, 2] {
            desk.unplug(port)
            #expect(desk.plug(port) == .known(port == 1 ? one : two))
        }
    }

    @Test("the second with an equal serial number is told apart by its port, and written so")
    func equalSerials() {
        var desk = Desk(serial: "0001")
        #expect(desk.plug(1) == .new("/accessory/1a86:7523:0001:00"))
        #expect(desk.plug(2) == .new("/accessory/1a86:7523:0001@hub-usb-2:00"))
    }

    @Test("the only one of its kind stays itself on another port")
    func movesAlone() {
        var desk = Desk()
        desk.plug(1)
        desk.unplug(1)
        #expect(desk.plug(2) == .known(byPort(1)))
        desk.unplug(2)
        #expect(desk.plug(1) == .known(byPort(1)))
        #expect(desk.plug(2) == .new(byPort(2)))
    }

    @Test("of two that are known and away, one on a new port is asked about; so is one whose twin alone is here")
    func asks() {
        var desk = Desk()
        desk.plug(1)
        desk.plug(2)
        desk.unplug(1)
        desk.unplug(2)
        #expect(desk.plug(3) == .ambiguous([byPort(1), byPort(2)]))
        desk.unplug(3)
        desk.plug(1)
        #expect(desk.plug(3) == .ambiguous([byPort(2)]))
        desk.plug(2)
        #expect(desk.plug(3) == .new(byPort(3)))
        #expect(desk.plug(4) == .new(byPort(4)))
        #expect(desk.registry.uris.count == 4)
    }

    @Test("a stranger that comes before the only known one does not take its place", arguments: [nil, "0001"])
    func strangerFirst(serial: String?) throws {
        var desk = Desk(serial: serial)
        let first = desk.plug(1).newSource
        let one = try #require(first)
        let resolutions = desk.restart([2, 1])
        #expect(resolutions[1] == .known(one))
        let two = try #require(resolutions[0].newSource, "\(resolutions)")
        #expect(one != two)
    }

    @Test("two strangers and one that is away: neither is taken for it")
    func twoStrangers() {
        var desk = Desk()
        desk.plug(1)
        #expect(desk.restart([2, 3]) == [.ambiguous([byPort(1)]), .ambiguous([byPort(1)])])
    }

    @Test("where a twin appears on the port that the only known one seemed to have left, people are asked")
    func doubtfulMove() {
        var desk = Desk()
        desk.plug(1)
        desk.unplug(1)
        desk.plug(2)
        #expect(desk.plug(1) == .ambiguous([byPort(1)]))
        #expect(desk.restart([1, 2]) == [.ambiguous([byPort(1)]), .known(byPort(1))])
        desk.registry.bind(twin(1), to: byPort(1))
        #expect(desk.restart([2, 1]) == [.new(byPort(2)), .known(byPort(1))])
        #expect(desk.restart([1, 2]) == [.known(byPort(1)), .known(byPort(2))])
    }

    @Test("one that is sure of its port does not keep the ports it once was on from others")
    func oldPorts() {
        var desk = Desk()
        for port in [1, 2, 1] {
            desk.plug(port)
            desk.unplug(port)
        }
        desk.plug(1)
        #expect(desk.plug(2) == .new(byPort(2)))
        #expect(desk.restart([2, 1]) == [.known(byPort(2)), .known(byPort(1))])
    }

    @Test("another node of the same interface is the same source")
    func otherNode() {
        var desk = Desk()
        desk.plug(1)
        #expect(desk.plug(1) == .known(byPort(1)))
    }

    @Test("interfaces and kinds have nothing to do with each other")
    func kinds() {
        var registry = AccessoryRegistry()
        var other = twin(1)
        other.interface = "02"
        #expect(registry.resolve(twin(1), attached: []) == .new(byPort(1)))
        #expect(registry.resolve(other, attached: [byPort(1)]) == .new("/accessory/1a86:7523:@hub-usb-1:02"))
        other.product = "5523"
        #expect(registry.resolve(other, attached: []) == .new("/accessory/1a86:5523:@hub-usb-1:02"))
    }

    @Test("people decide: what they bind keeps its name, a replacement takes the place of what broke")
    func binds() throws {
        var registry = AccessoryRegistry()
        let old = AccessoryIdentity(vendor: "2341", product: "0043", serial: "A", interface: "00", port: "x")
        var new = old
        new.serial = "B"
        let first = registry.resolve(old, attached: []).newSource
        let source = try #require(first)
        registry.setName("scale", of: source)
        registry.bind(new, to: source)
        #expect(registry.resolve(new, attached: []) == .known(source))
        #expect(registry.name(of: source) == "scale")
        // Its source is written after the one that broke, so the old one's return needs another word.
        let returned = registry.resolve(old, attached: [source])
        #expect(returned == .new("/accessory/2341:0043:A@x:00"))
        let answers = [registry.forget(source), registry.forget(source), registry.setName("x", of: source)]
        #expect(answers == [true, false, false])
        #expect(registry.addNew(new) == "/accessory/2341:0043:B:00")
        #expect(registry.addNew(new) == "/accessory/2341:0043:B@x:00")
        #expect(registry.addNew(new) == "/accessory/2341:0043:B@x:00~2")
    }

    @Test("the identity that a replacement had is gone, so that its next port raises no doubt")
    func replaces() {
        for serial in [nil, "B"] {
            var desk = Desk()
            desk.plug(1)
            desk.registry.setName("scale", of: byPort(1))
            desk.serial = serial
            for port in [2, 3] {
                if serial != nil { desk.unplug(port - 1) }
                desk.plug(port)
            }
            let replacement = desk.plugged[3]??.description ?? ""
            #expect(replacement != byPort(1) && !replacement.isEmpty)
            desk.plugged[1] = nil
            #expect(desk.registry.bind(twin(3, serial: serial), to: byPort(1), attached: desk.attached) == replacement)
            #expect(!desk.registry.uris.contains(replacement))
            desk.plugged[3] = byPort(1)
            if serial == nil {
                #expect(desk.plug(4) == .new(byPort(4)))
            } else {
                desk.unplug(3)
                #expect(desk.plug(4) == .known(byPort(1)))
            }
        }
    }

    @Test("of twins that stand on each other's ports neither is lost; nor is one that has a name")
    func swaps() {
        var desk = Desk()
        desk.plug(1)
        desk.plug(2)
        var other = desk
        #expect(desk.registry.bind(twin(1), to: byPort(2), attached: desk.attached) == nil)
        desk.plugged = [1: byPort(2)]
        #expect(desk.plug(2) == .ambiguous([byPort(1)]))
        desk.registry.bind(twin(2), to: byPort(1))
        #expect(desk.restart([2, 1]) == [.known(byPort(1)), .known(byPort(2))])

        other.registry.setName("left", of: byPort(1))
        other.unplug(2)
        #expect(other.registry.bind(twin(1), to: byPort(2), attached: other.attached) == nil)
        #expect(other.registry.name(of: byPort(1)) == "left")
    }

    @Test("looking enters nothing, and resolving again changes nothing")
    func looks() {
        var registry = AccessoryRegistry()
        #expect(registry.look(at: twin(1), attached: []) == .new(byPort(1)))
        #expect(registry.uris == [])
        _ = registry.resolve(twin(1), attached: [])
        let before = registry
        _ = registry.resolve(twin(1), attached: [])
        #expect(registry == before)
    }

    @Test("the registry comes back out of its lines; a broken line is left out and told")
    func text() {
        var desk = Desk()
        for port in 1...12 {
            desk.plug(port)
            desk.unplug(port)
        }
        desk.plug(13)
        desk.plug(14)
        desk.registry.setName("left \"one\"\n", of: byPort(1))
        let lines = desk.registry.lines
        let whole = read(lines)
        #expect(whole.registry == desk.registry && whole.complaints == [])
        let broken = [
            "{", "[1]", #"{"source":"/accessory/x","vendor":"a"}"#, #"{"source":"/bluetooth/x"}"#, lines[0],
        ]
        let (mended, complaints) = read(lines + broken)
        #expect(mended == desk.registry)
        #expect(complaints.count == 5)
        #expect(complaints[0].hasPrefix("at byte 1"), "\(complaints)")
    }

    @Test("of those that are away and have no name a thousand are remembered, those that were seen last, over restarts")
    func trims() {
        var desk = Desk()
        func plug(_ serials: ClosedRange<Int>) {
            for serial in serials {
                desk.serial = "\(serial)"
                desk.plug(1)
                desk.unplug(1)
            }
        }
        func source(_ serial: Int) -> String { "/accessory/1a86:7523:\(serial):00" }
        plug(1...1_001)
        desk.registry.setName("mine", of: source(2))
        desk.registry.touch(source(3))
        #expect(desk.registry.trim(attached: [source(1)]) == [])
        plug(1_002...1_003)
        var other = read(desk.registry.lines).registry
        #expect(desk.registry.trim(attached: [source(1)]) == [source(4)])
        #expect(other.trim(attached: []) == [source(1), source(4)])
        #expect(other.trim(attached: []) == [] && other.uris.count == 1_001)
        #expect(other.name(of: source(2)) == "mine")
    }

    @Test(
        "twins that stay on their ports never change places, whatever else happens to them",
        arguments: [1, 2, 3, 4] as [UInt64])
    func walk(seed: UInt64) {
        var dice = Dice(seed)
        var desk = Desk(serial: seed % 2 == 0 ? "0001" : nil)
        var owner: [Int: String] = [:]
        for port in 1...4 {
            owner[port] = desk.plug(port).newSource
        }
        #expect(Set(owner.values).count == 4)
        for _ in 0..<300 {
            let port = dice.below(4) + 1
            switch dice.below(3) {
            case 0: desk.unplug(port)
            case 1: #expect(desk.plug(port) == owner[port].map { .known($0) })
            default:
                let order = (1...4).filter { _ in dice.isOne(in: 2) }.shuffled(using: &dice)
                #expect(desk.restart(order) == order.compactMap { owner[$0].map { .known($0) } })
            }
        }
    }
}
