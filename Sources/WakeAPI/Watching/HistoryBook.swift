// The history of all devices: their numeric fields and their silent times, bounded in number and memory. Pure.
import WakeControl
import WakeModel

struct HistoryBook {
    /// A time from which there is no data, and why.
    struct Gap: Hashable {
        var from: WallTime
        /// Nil while it lasts.
        var until: WallTime?
        var cause: String
        var why: String
    }

    /// The data of one device's chart.
    struct Page {
        fileprivate(set) var fields: [String: ValueRing] = [:]
        /// In the order of the profile, as its values came.
        fileprivate(set) var names: [String] = []
        fileprivate(set) var gaps: [Gap] = []
        fileprivate var begin: WallTime
        fileprivate var latest: WallTime
        fileprivate var asked: WallTime?
    }

    /// How many fields there are at most, of all devices and of one.
    static let mostFields = 128
    static let mostFieldsOfDevice = 24
    /// The most gaps of a device. Of the older half the shortest goes first: over a week it is the least to be seen.
    static let mostGaps = 64
    static let mostDevices = 64

    private var pages: [EventOrigin: Page] = [:]
    private var fieldCount = 0
    /// When room was last looked for: a device that finds none asks again with every value.
    private var looked: WallTime?
    private let begin: WallTime
    private static let usualFields = 8
    private static let patience = TimeSpan.seconds(60)

    init(begin: WallTime) { self.begin = begin }

    var count: Int { fieldCount }

    func page(of device: EventOrigin) -> Page? { pages[device] }

    // MARK: Recording

    mutating func record(_ values: [FieldValue], of device: EventOrigin, at time: WallTime) {
        guard !values.isEmpty, var page = openPage(of: device, at: time) else { return }
        // A dictionary that holds the page too would have it copied.
        pages[device] = nil
        page.latest = max(page.latest, time)
        page.endAbsence(at: time)
        for value in values { record(value, in: &page, at: time) }
        pages[device] = page
    }

    private mutating func record(_ value: FieldValue, in page: inout Page, at time: WallTime) {
        if page.fields[value.name] != nil {
            page.fields[value.name]?.record(value.number, at: time)
        } else if page.names.count < Self.mostFieldsOfDevice, fieldCount < Self.mostFields {
            page.fields[value.name] = ValueRing(value.number, at: time)
            page.names.append(value.name)
            fieldCount += 1
        }
    }

    /// The device is away from now on, until ``connected(_:at:)`` or a value.
    mutating func disconnected(_ device: EventOrigin, why: String, at time: WallTime) {
        guard var page = openPage(of: device, at: time) else { return }
        guard page.gaps.last?.until != nil || page.gaps.isEmpty else { return }
        page.add(Gap(from: time, cause: Gap.disconnected, why: why))
        pages[device] = page
    }

    mutating func connected(_ device: EventOrigin, at time: WallTime) { pages[device]?.endAbsence(at: time) }

    /// It was away already when its history began.
    mutating func wasAway(_ device: EventOrigin, why: String) {
        guard let page = pages[device], page.names.isEmpty, page.gaps.isEmpty else { return }
        pages[device]?.add(Gap(from: page.begin, cause: Gap.disconnected, why: why))
    }

    /// Values were lost in a span that is over.
    mutating func lost(_ device: EventOrigin, _ gap: Gap) {
        guard var page = openPage(of: device, at: gap.until ?? gap.from) else { return }
        page.insert(gap)
        pages[device] = page
    }

    /// The wall clock was set back.
    mutating func remove(after time: WallTime) {
        for device in pages.keys { pages[device]?.remove(after: time) }
    }

    mutating func remove(_ device: EventOrigin) {
        guard let page = pages.removeValue(forKey: device) else { return }
        fieldCount -= page.names.count
    }

    // MARK: Room

    /// A person looks at the device's chart: it gets room, if need be that of the device that was looked at least recently.
    mutating func ask(for device: EventOrigin, at time: WallTime) {
        if pages[device] == nil {
            while !hasRoom, let other = leastWanted { remove(other) }
            pages[device] = Page(begin: max(begin, pages.isEmpty ? begin : time), latest: time)
        }
        pages[device]?.asked = time
    }

    /// For a device as most are.
    private var hasRoom: Bool {
        pages.count < Self.mostDevices && fieldCount + Self.usualFields <= Self.mostFields
    }

    private var isFull: Bool { pages.count >= Self.mostDevices || fieldCount >= Self.mostFields }

    private var leastWanted: EventOrigin? {
        pages.min { one, other in
            (one.value.asked?.microseconds ?? .min, one.value.latest) < (
                other.value.asked?.microseconds ?? .min, other.value.latest
            )
        }?.key
    }

    /// Nil where there is no room for another device.
    private mutating func openPage(of device: EventOrigin, at time: WallTime) -> Page? {
        if let page = pages[device] { return page }
        if isFull { removeSilent(at: time) }
        return isFull ? nil : Page(begin: begin, latest: time)
    }

    /// Removes devices that were silent for a day, the longest silent first, and no more than are needed.
    private mutating func removeSilent(at time: WallTime) {
        if let looked, time >= looked, time.span(since: looked) < Self.patience { return }
        looked = time
        while isFull, let (device, page) = pages.min(by: { $0.value.latest < $1.value.latest }),
            time.span(since: page.latest) > HistorySpan.day.length
        {
            remove(device)
        }
    }
}

/// A number that a device sent.
struct FieldValue: Hashable {
    var name: String
    var number: Double
}

extension HistoryBook.Gap {
    static let disconnected = "disconnected"
    static let unrecorded = "not-recorded"
}

extension HistoryBook.Page {
    fileprivate mutating func endAbsence(at time: WallTime) {
        guard let last = gaps.indices.last, gaps[last].until == nil else { return }
        gaps[last].until = max(time, gaps[last].from)
    }

    fileprivate mutating func add(_ gap: HistoryBook.Gap) {
        gaps.append(gap)
        shorten()
    }

    /// A gap that lasts stays last.
    fileprivate mutating func insert(_ gap: HistoryBook.Gap) {
        let isAway = gaps.last.map { $0.until == nil } ?? false
        gaps.insert(gap, at: isAway ? gaps.count - 1 : gaps.count)
        shorten()
    }

    private mutating func shorten() {
        guard gaps.count > HistoryBook.mostGaps else { return }
        let shortest = gaps.indices.prefix(gaps.count / 2).min { gaps[$0].length < gaps[$1].length }
        if let shortest { gaps.remove(at: shortest) }
    }

    fileprivate mutating func remove(after time: WallTime) {
        for name in names { fields[name]?.remove(after: time) }
        latest = min(latest, time)
        gaps.removeAll { $0.from > time }
        for place in gaps.indices { gaps[place].until = gaps[place].until.map { min($0, time) } }
    }

    /// The gaps of a span, with the time before the history began, in their order.
    func gaps(from: WallTime, until: WallTime) -> [HistoryBook.Gap] {
        var found = gaps.filter { $0.from < until && ($0.until ?? until) > from }
        if begin > from {
            let why = "the daemon keeps no history from before \(begin.rfc3339), and none over a restart"
            found.append(
                HistoryBook.Gap(from: from, until: min(begin, until), cause: HistoryBook.Gap.unrecorded, why: why))
        }
        return found.map { $0.within(from, until) }.sorted { $0.from < $1.from }
    }
}

extension HistoryBook.Gap {
    /// A gap that lasts has none yet.
    fileprivate var length: TimeSpan { (until ?? from).span(since: from) }

    fileprivate func within(_ start: WallTime, _ end: WallTime) -> HistoryBook.Gap {
        var gap = self
        gap.from = max(from, start)
        gap.until = until.map { min($0, end) }
        return gap
    }
}
