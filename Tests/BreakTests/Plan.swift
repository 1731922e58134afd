// The plan of a run: rounds of faults drawn from one seed, so that the same seed injects the same faults.
import TestBench

struct Round: Equatable {
    var number: Int
    var theme: Theme
    /// How long its trace lasts and faults come.
    var seconds: Double
    var seed: UInt64
    var steps: [Step] = []

    var faults: Int { steps.count { $0.fault.isFault } }
}

/// Gives one round after the other for as long as it is asked; each theme comes once before one comes again.
struct Plan {
    let seed: UInt64
    /// How long faults come in a round.
    private let seconds: Double
    private let themes: [Theme]
    private var dice: Dice
    private var bag: [Theme] = []
    private var count = 0

    init(seed: UInt64, seconds: Double, themes: [Theme]) {
        (self.seed, self.seconds, self.themes) = (seed, seconds, themes)
        dice = Dice(seed)
    }

    mutating func next() -> Round {
        if bag.isEmpty { bag = themes.shuffled(using: &dice) }
        var round = Round(number: count, theme: bag.removeLast(), seconds: seconds, seed: dice.next())
        round.steps = Self.steps(round.theme, seconds, Dice(round.seed))
        count += 1
        return round
    }

    /// Faults begin after the first events have come, and leave the last half second to come to rest.
    private static func steps(_ theme: Theme, _ seconds: Double, _ start: Dice) -> [Step] {
        var dice = start
        var steps: [Step] = []
        var time = 0.4
        while time < seconds - 0.5 {
            let last = seconds - 0.5
            steps += Draw.faults(theme, &dice).map { Step(at: min(time + $0.at, last), fault: $0.fault) }
            time += theme.pause * (0.2 + 1.6 * Double(dice.below(1000)) / 1000)
        }
        // What ends a fault comes in the order of time too, and what comes at once in the order of its drawing.
        return steps.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
    }
}

extension Theme {
    /// Seconds between faults, on average; a bridge that is killed faster than it starts would carry nothing.
    fileprivate var pause: Double {
        switch self {
        case .kills, .manners, .clock, .starved, .weak: 0.2
        case .full: 0.25
        case .damage: 0.35
        }
    }
}

/// Draws one fault of a theme, with what ends it.
private enum Draw {
    static func faults(_ theme: Theme, _ dice: inout Dice) -> [Step] {
        switch theme {
        case .kills: kills(&dice)
        case .manners: dice.isOne(in: 4) ? kills(&dice) : manner(Mood.allCases, &dice)
        // Stop signals do not hold who leaves the process group, as the manual says.
        case .weak:
            dice.isOne(in: 4) ? kills(&dice) : manner(Mood.allCases.filter { $0 != .bomb && $0 != .fork }, &dice)
        case .full: dice.isOne(in: 3) ? kills(&dice) : full(&dice)
        case .damage: damage(&dice)
        case .clock: dice.isOne(in: 3) ? clockManner(&dice) : [Step(at: 0, fault: .step(jump(&dice)))]
        case .starved: dice.isOne(in: 4) ? kills(&dice) : starved(&dice)
        }
    }

    private static func kills(_ dice: inout Dice) -> [Step] {
        switch dice.below(8) {
        case 0, 1: [Step(at: 0, fault: .killBridge)]
        case 2: [Step(at: 0, fault: .endBridge)]
        case 3: stopped(0.02 + Double(dice.below(100)) / 100)
        default: [Step(at: 0, fault: .killHandler(dice.below(1000)))]
        }
    }

    private static func stopped(_ seconds: Double) -> [Step] {
        [Step(at: 0, fault: .stopBridge), Step(at: seconds, fault: .continueBridge)]
    }

    private static func manner(_ moods: [Mood], _ dice: inout Dice) -> [Step] {
        let who = Crew.moody[dice.below(Crew.moody.count)]
        if dice.isOne(in: 8) {
            let span = Double(dice.below(20)) / 10
            return [Step(at: 0, fault: .stopHandler(who)), Step(at: 0.5 + span, fault: .startHandler(who))]
        }
        let mood = moods[1 + dice.below(moods.count - 1)]
        let end = Step(at: 0.1 + Double(dice.below(20)) / 10, fault: .mood(who, .good))
        let begin = Step(at: 0, fault: .mood(who, mood))
        return mood == .lock ? [begin, Step(at: 0.1, fault: .contend(who)), end] : [begin, end]
    }

    private static func full(_ dice: inout Dice) -> [Step] {
        let volume: Volume = dice.isOne(in: 2) ? .state : .runtime
        return [
            Step(at: 0, fault: .fill(volume)), Step(at: 0.1 + Double(dice.below(8)) / 10, fault: .makeRoom(volume)),
        ]
    }

    private static func damage(_ dice: inout Dice) -> [Step] {
        if dice.isOne(in: 3) { return kills(&dice) }
        let file = JournalFile.allCases[dice.below(JournalFile.allCases.count)]
        if dice.isOne(in: 3) { return [Step(at: 0, fault: .truncate(file, dice.below(1000)))] }
        return [Step(at: 0, fault: .flip(file, (0...dice.below(4)).map { _ in dice.below(1_000_000) }))]
    }

    /// From a second to forty days, both ways.
    private static func jump(_ dice: inout Dice) -> Int {
        let far = [1, 3, 60, 3600, 86_400, 40 * 86_400][dice.below(6)]
        return dice.isOne(in: 2) ? far : -far
    }

    /// Not a refusal: how long it holds is remembered over a bridge's death by the wall clock, which here is no guide.
    private static func clockManner(_ dice: inout Dice) -> [Step] {
        guard dice.isOne(in: 2) else { return kills(&dice) }
        let mood = [Mood.mute, .crash, .deaf][dice.below(3)]
        let who = Crew.moody[dice.below(Crew.moody.count)]
        return [Step(at: 0, fault: .mood(who, mood)), Step(at: 0.4, fault: .mood(who, .good))]
    }

    private static func starved(_ dice: inout Dice) -> [Step] {
        switch dice.below(4) {
        case 0, 1:
            let spare = dice.below(6)
            return [Step(at: 0, fault: .fewDescriptors(spare)), Step(at: 0.4, fault: .manyDescriptors)]
        case 2: return [Step(at: 0, fault: .noCgroups), Step(at: 0.4, fault: .anyCgroups)]
        default:
            let mood = [Mood.bomb, .eat, .crash][dice.below(3)]
            let who = Crew.moody[dice.below(Crew.moody.count)]
            return [Step(at: 0, fault: .mood(who, mood)), Step(at: 0.2, fault: .mood(who, .good))]
        }
    }
}
