// wakebridge pair: bonds, trusts and names one peripheral; the operator answers at the keyboard or by options.
import WakeArguments
import WakeModel
import WakePairing
import WakeSources
import WakeSystem

extension Verb {
    static var pair: Verb {
        Verb(
            name: "pair", summary: "bond, trust and name a Bluetooth LE peripheral; name an accessory",
            synopsis: [
                "[--alias NAME] [--yes] [--passkey N] [--no-bond] [--adapter ADDRESS] [--json] [DEVICE]",
                "--dialogue [--alias NAME] [--adapter ADDRESS] DEVICE",
                "[--alias NAME] [--as DEVICE|new] [--json] NODE|ACCESSORY",
            ],
            detail: """
                DEVICE is an address, an alias or a name; without it there is a scan, and one of those that a profile knows
                is chosen. Put the peripheral into its pairing mode first. A trusted peripheral is watched by the daemon,
                and connected whenever it is near. Needs no daemon. One that only broadcasts is named and heard, which the daemon
                keeps.

                An accessory, said by its node such as /dev/ttyACM0, by its source or by its name, needs no pairing: it is
                only named, or where several look the same it is said which one it is. That is the daemon's to keep.

                With --dialogue a program pairs: each step, each question and the result is a JSON object on a line of
                standard output, and {"passkey":"123456"} or {"agrees":true} on a line of standard input is the answer.
                """,
            examples: [
                "wakebridge pair",
                "wakebridge pair --alias chest-strap C0:F1:F2:F3:F4:01",
                "wakebridge pair --alias scanner /dev/ttyACM0",
            ],
            flags: [
                Flag("alias", value: "NAME", "what to call it; its profile and four digits if not given"),
                Flag("yes", short: "y", "agree to comparisons unseen, and take the only peripheral that is found"),
                Flag("passkey", value: "N", "the passkey that the peripheral shows or has on its label, 0 to 999999"),
                Flag("no-bond", "trust and name a peripheral that cannot bond"),
                BluetoothStation.adapterFlag,
                Flag("as", value: "DEVICE", "which accessory it is, by name or source; 'new' for none of those known"),
                Flag("json", short: "j", "print what was paired as one JSON document"),
                Flag("dialogue", "ask on standard output and read answers from standard input, as JSON lines"),
            ] + daemonFlags, operands: [.device]
        ) { words throws(Complaint) in
            let device = try NamedDevice(words)
            if case .accessory(let accessory) = device { return try accessory.name() }
            let request = try PairingOrder(words)
            let run = try device.explain { () throws(Complaint) in try PairingRun(request) }
            let found = try device.explain { () throws(Complaint) in try run.find() }
            return try run.pair(found)
        }
    }
}

/// Pairs one of those that a profile knows, chosen among those near by.
/// - Returns: the sentence that names the paired device.
func pairChosen(_ words: ParsedArguments) throws(Complaint) -> String {
    let run = try PairingRun(try PairingOrder(words))
    let found = try run.find()
    if let broadcaster = try run.broadcaster(found) {
        try broadcaster.keep(words)
        return broadcaster.sentence
    }
    return try run.paired(found).sentence
}

/// The options of the command line.
struct PairingOrder {
    let words: ParsedArguments
    let device: String?
    let alias: String?
    let passkey: UInt32?

    init(_ words: ParsedArguments) throws(Complaint) {
        self.words = words
        device = try words.optional()
        alias = try words.value("alias").map { text throws(Complaint) in try Self.alias(text) }
        passkey = try words.value("passkey").map { text throws(Complaint) in
            guard let passkey = PairingText.passkey(text) else {
                throw .usage("--passkey '\(text)' is not a number from 0 to 999999")
            }
            return passkey
        }
    }

    static func alias(_ text: String) throws(Complaint) -> String {
        guard text.isPlainName else {
            throw .usage(
                "--alias '\(text.printable)' cannot be a name: use 1 to 64 bytes of text, no '/' or space at its ends")
        }
        return text
    }
}

/// A run of the verb, from finding the peripheral to the result.
private final class PairingRun {
    private let order: PairingOrder
    private let station: BluetoothStation
    private let adapters: Set<String>
    private let progress = ProgressLine.onTerminal()
    private let dialogue: PairingDialogue?

    init(_ order: PairingOrder) throws(Complaint) {
        self.order = order
        dialogue = order.words.has("dialogue") ? PairingDialogue() : nil
        station = try BluetoothStation()
        adapters = try station.adapters(order.words)
    }

    func find() throws(Complaint) -> Neighbour {
        let search = PeripheralSearch(station, adapters)
        let path: String
        if let device = order.device {
            dialogue?.say("looking for \(device.printable)")
            path = try search.find(device)
        } else {
            path = try search.choose(takesOnly: order.words.has("yes"))
        }
        guard let found = station.neighbour(at: path) else {
            throw .failure("the peripheral vanished while it was looked for; try again")
        }
        return found
    }

    /// Nil for one that is paired.
    func broadcaster(_ found: Neighbour) throws(Complaint) -> NamedBroadcaster? {
        guard station.isBroadcaster(found) else { return nil }
        try check(found)
        return NamedBroadcaster(found: found, alias: alias(of: found.peripheral, at: found.path))
    }

    func pair(_ found: Neighbour) throws(Complaint) -> Int32 {
        if let broadcaster = try broadcaster(found) {
            try broadcaster.keep(order.words)
            if let dialogue {
                dialogue.conclude(broadcaster.json())
            } else {
                Console.print(order.words.has("json") ? broadcaster.json() : Array((broadcaster.sentence + "\n").utf8))
            }
            return 0
        }
        report(try paired(found))
        return 0
    }

    func paired(_ found: Neighbour) throws(Complaint) -> PairedText {
        try check(found)
        let outcome = try outcome(with: found)
        progress?.clear()
        return PairedText(paired: station.neighbour(at: found.path) ?? found, outcome: outcome)
    }

    private func check(_ found: Neighbour) throws(Complaint) {
        guard let alias = order.alias else { return }
        if let owner = others(than: found.path).first(where: { $0.value.alias == alias }) {
            throw .notFound(
                "the alias '\(alias)' belongs to \(owner.value.address) already; choose another, or forget that one first"
            )
        }
        if alias == found.peripheral.name {
            throw .failure(
                "'\(alias)' is what it calls itself, and bluetoothd does not tell that from no alias; choose another name"
            )
        }
    }

    private func others(than path: String) -> [String: BluezPeripheral] {
        let address = station.client.mirror.peripherals[path]?.address
        return station.client.mirror.peripherals.filter {
            $0.key != path && $0.value.address != address && $0.value.isAdopted
        }
    }

    private func alias(of peripheral: BluezPeripheral, at path: String) -> String {
        if let alias = order.alias { return alias }
        let profile = station.profile(of: peripheral) ?? "bluetooth"
        let wanted = peripheral.deviceAlias(profile: profile)
        let taken = Set(others(than: path).values.map(\.alias))
        if !taken.contains(wanted) { return wanted }
        return (2...).lazy.map { "\(wanted)-\($0)" }.first { !taken.contains($0) } ?? wanted
    }

    private func outcome(with found: Neighbour) throws(Complaint) -> PairingOutcome {
        var wish = PairingWish(label: found.label.oneCell, word: found.peripheral.address)
        wish.wantsBond = !order.words.has("no-bond")
        wish.saysYes = order.words.has("yes")
        wish.passkey = order.passkey
        wish.canAsk = dialogue != nil || Keyboard.isThere
        var end: Pairing.End?
        do throws(SystemError) {
            let pairing = try Pairing(of: found.path, over: station.client, on: station.loop, wish)
            let keyboard = wish.canAsk ? try keyboard(of: pairing) : nil
            defer { withExtendedLifetime(keyboard) {} }
            connect(pairing, found.path)
            pairing.finish = { end = $0 }
            progress?.show("pairing with \(wish.label) …")
            dialogue?.say("pairing with \(wish.label)")
            pairing.begin()
            while end == nil { try station.loop.runOnce() }
            station.didChange = { _ in }
        } catch {
            throw .failure("\(error.description); try again")
        }
        progress?.clear()
        switch end {
        case .done(let outcome): return outcome
        case .failed(let sentence): throw .failure(sentence.printable)
        case nil: throw .failure("pairing with \(wish.label) did not begin; try again")
        }
    }

    /// Lines of a person, or of the program at the other end of a dialogue.
    private func keyboard(of pairing: Pairing) throws(SystemError) -> Keyboard {
        guard dialogue != nil else { return try Keyboard(on: station.loop) { pairing.hear($0) } }
        return try Keyboard(on: station.loop) { line in
            switch PairingDialogue.answer(line) {
            case .end: pairing.interrupt()
            case .line(let text): pairing.hear(text)
            case .none: Console.say("an answer was no {\"passkey\":\"123456\"} or {\"agrees\":true}; it is left out")
            }
        }
    }

    private func connect(_ pairing: Pairing, _ path: String) {
        defer {
            station.didChange = { pairing.bluezDidChange($0) }
            station.turns.onInterrupt { pairing.interrupt() }
        }
        pairing.alias = { [unowned self] in alias(of: $0, at: path) }
        if let dialogue {
            pairing.ask = { question, _ in dialogue.ask(question) }
            pairing.show = { sentence, passkey in dialogue.show(sentence, passkey) }
            return
        }
        pairing.ask = { [progress] _, prompt in
            progress?.clear()
            Console.draw(prompt.printable)
        }
        pairing.withdraw = { Console.draw("\n") }
        pairing.show = { [progress] sentence, _ in
            progress?.clear()
            Console.say(sentence.printable)
        }
    }

    private func report(_ text: PairedText) {
        if let dialogue { return dialogue.conclude(text.json) }
        if order.words.has("json") { return Console.print(text.json) }
        Console.print(text.sentence + "\n")
        if text.paired.profile == nil {
            Console.say(
                "no profile knows it, so the daemon does not watch it; write one for it "
                    + "(docs/how-to/add-a-device-profile.md)")
        } else {
            Console.say("next: wakebridge watch \(text.paired.peripheral.alias.printable.asShellWord)")
        }
    }
}

private struct PairedText {
    let paired: Neighbour
    let outcome: PairingOutcome

    var sentence: String {
        let name =
            "\(paired.peripheral.alias.oneCell) (\(paired.peripheral.address), \(paired.profile ?? "no profile"))"
        let told = outcome.isTold ? "" : "; this bluetoothd, older than 5.66, does not tell whether it keeps the bond"
        switch outcome.bond {
        case .new: return "paired \(name): bonded and trusted; proof: \(outcome.proof.word)\(told)"
        case .kept(isProved: true): return "\(name) was bonded already, and the bond holds; it is trusted"
        case .kept(isProved: false):
            return "\(name) was bonded already; it is trusted, but not near now, so the bond was not tried"
        case .none: return "\(name) is trusted and named, without a bond"
        }
    }

    var json: [UInt8] {
        JSONWriter.line { writer in
            writer.field("alias", paired.peripheral.alias)
            writer.identity(of: paired)
            writer.field("proof", outcome.bond == .new ? outcome.proof.word : nil)
        }
    }
}
