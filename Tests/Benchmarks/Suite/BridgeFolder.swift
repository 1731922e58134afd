// The folder of one bridge under test: its handlers, their boards, no limit on what its devices say.
import WakeModel
import WakeSystem

/// What a bridge under test is given to do.
struct BridgePlan {
    var durability = Durability.run
    var linger = TimeSpan.zero
    var devices = 1
    /// More than one: each watches a device of its own, unless they all watch the only one.
    var handlers = 1
    /// More of `timers`, as a manifest has them.
    var timers = ""
    /// In so many reads a handler acknowledges; then it falls silent. Nil: in all.
    var answers: Int?
}

struct BridgeFolder {
    let path: String
    private let plan: BridgePlan

    init(_ plan: BridgePlan) throws {
        self.plan = plan
        path = try MemoryFolder.make()
        try Directory.create(path + "/etc/handlers.d")
        try File.replace(path + "/etc/wakebridge.json5", with: Array("{ storm: { enabled: false } }".utf8))
        let (program, user) = (try Places.handler(), try Account.current().name)
        for number in 0..<plan.handlers {
            let manifest = manifest(number, program, user)
            try File.replace("\(path)/etc/handlers.d/h\(number).json5", with: Array(manifest.utf8))
        }
    }

    /// The only board, or that of a handler which is looked at for itself.
    func board(_ number: Int) -> String { Self.board(hasOwnBoards ? number : 0, in: path) }

    static func board(_ number: Int, in path: String) -> String { "\(path)/board\(number)" }

    /// Handlers of one device hear at once, and would write over each other.
    private var hasOwnBoards: Bool { plan.devices == 1 }

    private func manifest(_ number: Int, _ program: String, _ user: String) -> String {
        let answers = plan.answers.map { ", \"\($0)\"" } ?? ""
        let device = plan.handlers > 1 && plan.devices > 1 ? ", device: \"\(Self.alias(number))\"" : ""
        return """
            { exec: ["\(program)", "\(board(number))"\(answers)], user: "\(user)", modes: ["bluetooth-central"],
              watch: [{ profile: "heart-rate-monitor", durability: "\(plan.durability.rawValue)"\(device) }],
              timers: { linger: "\(plan.linger.wholeMilliseconds)ms"\(plan.timers) } }
            """
    }

    static func alias(_ number: Int) -> String { number == 0 ? "chest-strap" : "chest-strap-\(number)" }
}

/// Where handlers are: below our own cgroup, one in each that is there.
struct HandlerGroups {
    let name: String

    init(named name: String) { self.name = name }

    /// Those of a bridge are in one named after its runtime directory.
    init(runtimeDirectory: String) {
        name = "wakebridge" + runtimeDirectory.map { $0 == "/" ? "-" : String($0) }.joined()
    }

    var path: String? { (try? CgroupTree.path(named: name)).flatMap { File.exists($0) ? $0 : nil } }

    /// Each with its cgroup.events.
    var members: [(name: String, events: String)] {
        guard let path else { return [] }
        return ((try? Directory.names(in: path)) ?? []).map { ($0, "\(path)/\($0)/cgroup.events") }
            .filter { File.exists($0.1) }
    }

    var frozen: Int { members.count { ((try? File.text(at: $0.events)) ?? "").contains("frozen 1") } }

    /// Waits until so many are frozen.
    func await(frozen count: Int) throws {
        guard RealTime.wait(every: .milliseconds(50), until: { frozen >= count }) else {
            throw Failure("not all of \(count) handlers froze in 30 s")
        }
    }
}
