// wakebridge scan: Bluetooth LE peripherals near by and attached accessories, live on a terminal, line by line elsewhere.
import Glibc
import WakeArguments
import WakeModel
import WakePairing
import WakeProfiles
import WakeSources
import WakeSystem

extension Verb {
    static var scan: Verb {
        Verb(
            name: "scan", summary: "peripherals nearby and accessories attached, with the profile that knows each",
            synopsis: [
                "[--profile PROFILE] [--all] [--for 10s] [--adapter ADDRESS] [--config DIR] [--profiles DIR] [--json]"
            ],
            detail: """
                Bluetooth LE peripherals, and what udev knows to be plugged in, each as far as a profile knows it; with
                --all also the others. On a terminal the table is drawn again until Ctrl-C; elsewhere there is a line for
                each, for 10 s. Several addresses that look the same and change by themselves are one row. Needs no daemon.
                """,
            examples: ["wakebridge scan", "wakebridge scan --all --for 30s"],
            flags: [
                Flag("profile", short: "p", value: "PROFILE", "only what this profile knows"),
                Flag("all", short: "a", "also what no profile knows"),
                Flag("for", short: "w", value: "TIME", "end after this time, such as 10s or 2m"),
                Flag(
                    "adapter", short: "i", value: "ADDRESS",
                    "Bluetooth only, by this adapter; by all of them if not given"),
                Flag("json", short: "j", "print a JSON object a line, for each that is new, changed or unplugged"),
            ] + NamedPlaces.flags
        ) { words throws(Complaint) in try Scan(words).run() }
    }
}

private final class Scan {
    private let words: ParsedArguments
    private let turns: ToolLoop
    private let profiles: ProfileLibrary
    /// The requested profile.
    private let profile: Profile?
    /// Nil where Bluetooth is not requested or not available, and until it is found.
    private var radio: RadioScan?
    private var isAbsenceReported = false
    private var reportedRefusal: String?
    /// Nil where accessories are not requested, or udev does not announce them.
    private let accessories: AccessoryScan?
    private let length: TimeSpan?
    private var printed = PrintedRows()
    private let drawing: RedrawnTable?

    init(_ words: ParsedArguments) throws(Complaint) {
        self.words = words
        try words.atMost(0)
        if words.has("profile"), words.has("all") { throw .usage("--profile and --all exclude each other") }
        length = try words.time("for")
        profiles = try NamedPlaces(words).library
        profile = try Self.profile(words, profiles)
        drawing = words.has("json") ? nil : RedrawnTable.onTerminal()
        if let profile, profile.accessory?.node == .rfcomm {
            throw .failure(
                "'\(profile.name)' is for serial ports over Bluetooth, which no scan for Low Energy hears; look for them with: "
                    + "bluetoothctl scan bredr")
        }
        turns = try ToolLoop()
        let isOfAccessories = profile?.kind == .externalAccessory
        if isOfAccessories, words.has("adapter") {
            throw .failure("a profile of accessories was named, which no Bluetooth adapter hears; leave out --adapter")
        }
        let wantsAccessories = profile?.kind != .bluetoothCentral && !words.has("adapter")
        accessories = wantsAccessories && Udev.isRunning ? try AccessoryScan(on: turns.loop, profiles) : nil
        guard wantsAccessories, accessories == nil else { return }
        let sentence = "udevd is not running, as in most containers; scan where it runs"
        if isOfAccessories { throw .failure("no accessory can be seen: \(sentence)") }
        Console.say("no accessories: \(sentence)")
    }

    private static func profile(_ words: ParsedArguments, _ profiles: ProfileLibrary) throws(Complaint) -> Profile? {
        guard let name = words.value("profile") else { return nil }
        if let index = profiles.index(named: name) { return profiles[index] }
        throw .usage("there is no profile '\(name)'.\(suggestion(for: name, among: profiles.names))")
    }

    func run() throws(Complaint) -> Int32 {
        if profile?.kind != .externalAccessory { try findRadio() }
        let end = length ?? (drawing != nil ? nil : .seconds(10))
        // With a profile named, bluetoothd need not report other peripherals.
        radio?.begin(for: profile?.match.services ?? [])
        try look(until: end.map { SystemClock.monotonic() + $0 })
        try radio?.end()
        if !words.has("json"), drawing == nil, let sentence = footer() { Console.say(sentence) }
        return 0
    }

    /// It may take a while to find out whether there is Bluetooth; attached accessories are shown at once, and as they change.
    private func findRadio() throws(Complaint) {
        turns.meanwhile = { [unowned self] in showNews() }
        showNews()
        do throws(Complaint) {
            defer { turns.meanwhile = nil }
            let station = try BluetoothStation(on: turns, profiles)
            radio = RadioScan(station, on: try station.adapters(words))
        } catch {
            guard !error.isUsage, accessories != nil else { throw error }
            if !turns.isInterrupted { reportAbsence(error.sentence) }
        }
    }

    /// Prints the sentence once, in full; the drawn table is clipped to the terminal, and follows below.
    private func reportAbsence(_ sentence: String) {
        guard !isAbsenceReported else { return }
        isAbsenceReported = true
        drawing?.draw("")
        Console.say("no Bluetooth: \(sentence)")
        if drawing != nil { show() }
    }

    /// Shows that the radio does not scan yet, so that you do not think nothing is near: once, or below the table.
    private func reportRefusal() {
        guard let radio, radio.refusal != reportedRefusal else { return }
        reportedRefusal = radio.refusal
        if drawing != nil { return show() }
        if let refusal = radio.refusal { Console.say(refusal) }
    }

    private func look(until end: Instant?) throws(Complaint) {
        let isOver = { [unowned self] in accessories == nil && radio?.failure != nil }
        while !isOver(), !turns.isInterrupted {
            let now = SystemClock.monotonic()
            let left = end.map { $0 + (radio?.delay ?? .zero) - now } ?? ToolLoop.pace
            if left <= .zero { break }
            showNews()
            reportRefusal()
            if accessories != nil, let failure = radio?.failure { reportAbsence(failure) }
            try turns.turn(until: now + min(left, ToolLoop.pace), isOver)
        }
        show(isLast: true)
        if let failure = radio?.failure {
            guard accessories != nil else { throw .failure(failure) }
            reportAbsence(failure)
        }
    }

    // MARK: Showing

    private func showNews() {
        if radio?.hasNews == true || accessories?.hasNews == true { show() }
        radio?.hasNews = false
        accessories?.hasNews = false
    }

    private func show(isLast: Bool = false) {
        if let drawing {
            let rows = peripherals.map(NeighbourText.cells) + attached.map(AccessoryText.cells)
            let hope = turns.meanwhile != nil ? "looking for Bluetooth …" : radio?.refusal
            let below = [footer(), hope].compactMap { $0 }.map { $0 + "\n" }.joined()
            drawing.draw(NeighbourText.table(rows) + below)
            return
        }
        showPeripherals(isLast: isLast)
        showAccessories()
    }

    /// A line is printed once, so it waits for the signal strength, which comes later.
    private func showPeripherals(isLast: Bool) {
        guard let radio else { return }
        let isJSON = words.has("json")
        for row in peripherals where isJSON || isLast || radio.hasHeard(row.path) {
            let text = isJSON ? NeighbourText.json(row) : Array(NeighbourText.line(row).utf8)
            if printed.record(row, text, isOnce: !isJSON) { Console.print(text) }
        }
        printed.keep(radio.rows) { radio.isThere($0) }
    }

    private func showAccessories() {
        guard let accessories else { return }
        for row in accessories.removeChanges() where isWanted(row.profile) {
            Console.print(words.has("json") ? AccessoryText.json(row) : Array(AccessoryText.line(row).utf8))
        }
    }

    private var peripherals: [Neighbour] { radio?.rows.filter { isWanted($0.profile) } ?? [] }
    private var attached: [AttachedRow] { accessories?.rows.filter { isWanted($0.profile) } ?? [] }

    private func isWanted(_ profile: String?) -> Bool {
        if words.has("all") { return true }
        guard let wanted = words.value("profile") else { return profile != nil }
        return profile == wanted
    }

    private func footer() -> String? {
        let wanted = peripherals.count + attached.count
        let strangers = (radio?.rows.count ?? 0) - peripherals.count
        let others = (accessories?.rows.count ?? 0) - attached.count
        if wanted == 0, strangers + others == 0 {
            let nothing = radio == nil ? "nothing is attached" : "nothing was heard"
            return drawing == nil ? nothing : nothing + " yet …"
        }
        if words.has("profile") {
            return wanted > 0 ? nil : "nothing that this profile knows \(radio == nil ? "is attached" : "was heard")"
        }
        let parts = [
            strangers > 0 ? strangers.counted("peripheral") : nil, others > 0 ? others.counted("attached node") : nil,
        ].compactMap { $0 }
        guard !parts.isEmpty else { return nil }
        let them = strangers + others == 1 ? "it" : "them"
        return "\(parts.joined(separator: " and ")) that no profile knows; --all shows \(them)"
    }
}

/// The rows printed so far, so that only changes follow. Rows of absent peripherals are removed, so that it cannot grow.
private struct PrintedRows {
    private var texts: [String: [UInt8]] = [:]
    private var paths: Set<String> = []

    /// Records the row and returns whether to print `text`. With `isOnce`, a peripheral is printed only once.
    mutating func record(_ row: Neighbour, _ text: [UInt8], isOnce: Bool) -> Bool {
        let isKnown = isOnce ? texts[row.key] != nil || paths.contains(row.path) : texts[row.key] == text
        texts[row.key] = text
        paths.insert(row.path)
        return !isKnown
    }

    mutating func keep(_ rows: [Neighbour], _ isThere: (String) -> Bool) {
        let keys = Set(rows.map(\.key))
        texts = texts.filter { keys.contains($0.key) }
        paths = paths.filter(isThere)
    }
}
