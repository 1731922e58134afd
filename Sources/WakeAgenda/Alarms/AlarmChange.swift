// What happened to an alarm: kept short with it, and said in sentences to people who ask why it did not fire.
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
        case .set: "It was set."
        case .replaced: "An order replaced it."
        case .changed: "The manifest changed it."
        case .raised: "It was raised\(dueText)\(count == 0 ? "" : ", and told of \(count) missed before")."
        case .raisedAgain: "It was raised again\(dueText)."
        case .operated: "A person made it fire."
        case .skipped: "\(count) came too late to be raised, and count as missed."
        case .folded: "\(count) came late and so near to the next that they count as missed with it."
        case .acknowledged: "The handler acknowledged it."
        case .handedBack: "The handler handed it back."
        case .overrun: "The handler did not end with it in its time."
        case .crashed: "The handler ended over it."
        case .givenBack: "It waits for the handler again."
        case .deadLettered: "It was given up, and lies among the dead letters."
        case .dropped: "It was lost in a gap."
        case .withdrawn: "It was taken back."
        case .corrected: "The clock was set back by more than three hours: it goes on from the new time."
        case .rebased: "The clock was synchronized: it goes on from the true time."
        case .mended: "The clock was synchronized: its time after the restart is exact now."
        case .moved: "The time zone changed: it goes on by the new one."
        }
    }

    private var dueText: String { due.map { ", due \($0.rfc3339)" } ?? "" }
}
