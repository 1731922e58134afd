// A change of an alarm: kept with it, and shown to people who ask why it did not fire, as those of jobs and polls are.
import WakeModel

struct AlarmChange: Hashable, Sendable {
    enum Word: String, Hashable, Sendable, CaseIterable {
        case set, replaced, changed, raised
        case raisedAgain = "again"
        case operated
        case skipped, folded
        case acknowledged
        case handedBack = "back"
        case overrun, crashed
        case givenBack = "given"
        case deadLettered = "dead"
        case dropped, withdrawn
        case corrected, rebased, mended, moved
    }

    var at: WallTime
    var word: Word
    var count: Int64 = 0
    var due: WallTime?

    var sentence: String {
        switch word {
        case .set: "set"
        case .replaced: "replaced by an order"
        case .changed: "changed by the manifest"
        case .raised: "raised\(dueText)\(count == 0 ? "" : ", and told of \(count) missed before")"
        case .raisedAgain: "raised again\(dueText)"
        case .operated: "fired by a person"
        case .skipped: "\(count) came too late to be raised, and count as missed"
        case .folded: "\(count) came late and so near to the next that they count as missed with it"
        case .acknowledged: "acknowledged"
        case .handedBack: "handed back"
        case .overrun: "did not end in time"
        case .crashed: "the process ended over it"
        case .givenBack: "waits for the handler again"
        case .deadLettered: "given up after failing too often"
        case .dropped: "dropped before the handler had it"
        case .withdrawn: "came back, not charged"
        case .corrected: "the clock was set back by more than three hours: goes on from the new time"
        case .rebased: "the clock was synchronized: goes on from the true time"
        case .mended: "the clock was synchronized: its time after the restart is exact now"
        case .moved: "the time zone changed: goes on by the new one"
        }
    }

    private var dueText: String { due.map { ", due \($0.rfc3339)" } ?? "" }
}
