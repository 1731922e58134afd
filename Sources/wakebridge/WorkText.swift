// A handler's wakes as text: how the handler judged them, and what they cost.
import WakeModel

struct WorkText {
    /// The member `work` of a handler.
    let work: JSONValue

    /// `90 %` of the judged wakes; a dash where it judged none.
    var usefulShare: String {
        let judged = work.count("judged_wakes")
        return judged == 0 ? "-" : "\(work.count("useful_wakes") * 100 / judged) %"
    }

    /// Lines with their ends; nothing before the first acknowledgement.
    var lines: String {
        let words = ["useful", "nothing", "failed", "unsaid"].map { (word: $0, count: work.count($0)) }
        let total = words.reduce(0) { $0 + $1.count }
        guard total > 0 else { return "" }
        let counts = words.filter { $0.count > 0 }.map { "\($0.count) \($0.word)" }.joined(separator: ", ")
        return "  \(Int(total).counted("event")) acknowledged: \(counts)\n" + judgement + cost
    }

    private var judgement: String {
        let judged = work.count("judged_wakes")
        guard judged > 0 else { return "" }
        return "  \(work.count("useful_wakes")) of \(Int(judged).counted("judged wake")) useful (\(usefulShare))\n"
    }

    private var cost: String {
        let share = ((work["awake_ratio"]?.number ?? 0) * 1_000_000).rounded() / 10_000
        let processor = work["cpu_per_event_ms"]?.number.map { ", \($0) ms of processor time an event" } ?? ""
        return "  awake \(share) % of the time\(processor)\n"
    }
}
