// What is done to the bridge, its handlers and its files, as values: a plan can be printed, compared and had again.

/// One of the two databases, or a log of what was written last.
enum JournalFile: String, CaseIterable {
    case run = "run.sqlite"
    case runLog = "run.sqlite-wal"
    case runTurns = "run.sqlite-turns"
    case disk = "journal.sqlite"
    case diskLog = "journal.sqlite-wal"
}

/// How a handler behaves until it is told otherwise; the words are those of the handler.
enum Mood: String, CaseIterable {
    case good, mute, deaf, nack, crash, bomb, eat, fork, chat, flood, lock, close, stubborn
}

enum Volume: String {
    case state, runtime
}

enum Fault: Equatable {
    case killBridge
    /// SIGTERM, and a new life after it.
    case endBridge
    /// The handler with that number among those that run then.
    case killHandler(Int)
    case stopBridge
    case continueBridge
    case mood(String, Mood)
    /// Somebody waits for the lock that the handler holds.
    case contend(String)
    case stopHandler(String)
    case startHandler(String)
    case fill(Volume)
    case makeRoom(Volume)
    /// While no bridge runs; the part that stays, in thousandths.
    case truncate(JournalFile, Int)
    /// While no bridge runs; the places, in millionths of the file.
    case flip(JournalFile, [Int])
    /// The wall clock, by so many seconds.
    case step(Int)
    /// So many more descriptors than are open.
    case fewDescriptors(Int)
    case manyDescriptors
    /// No cgroup can be made below the bridge's own.
    case noCgroups
    case anyCgroups

    /// What ends a fault is none itself.
    var isFault: Bool {
        switch self {
        case .continueBridge, .mood(_, .good), .startHandler, .makeRoom, .manyDescriptors, .anyCgroups: false
        case .killBridge, .endBridge, .killHandler, .stopBridge, .mood, .contend, .stopHandler, .fill, .truncate,
            .flip, .step, .fewDescriptors, .noCgroups:
            true
        }
    }

    /// For the report: a word for each kind.
    var kind: String {
        switch self {
        case .killBridge: "bridge killed"
        case .endBridge: "bridge ended"
        case .killHandler: "handler killed"
        case .stopBridge, .continueBridge: "bridge stopped"
        case .mood(_, let mood): "handler: \(mood.rawValue)"
        case .contend: "lock wanted"
        case .stopHandler, .startHandler: "handler stopped"
        case .fill(let volume), .makeRoom(let volume): "\(volume.rawValue) full"
        case .truncate: "journal cut"
        case .flip: "journal flipped"
        case .step: "clock set"
        case .fewDescriptors, .manyDescriptors: "descriptors out"
        case .noCgroups, .anyCgroups: "cgroups refused"
        }
    }
}

/// What a round is about, because not every machine grants every ground.
enum Theme: String, CaseIterable {
    case kills, manners, full, damage, clock, starved, weak
}

/// What is done when, in seconds of the round.
struct Step: Equatable {
    var at: Double
    var fault: Fault
}
