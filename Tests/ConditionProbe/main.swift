// Opens conditions as the daemon does and prints what they report, a line each; `descriptors` counts what each has open instead.
// It is a program of its own because devices that are made up show only to processes that were started for them.
import Glibc
import WakeAgenda
import WakeEngine
import WakeLoop
import WakeModel
import WakeSystem

func openCount() -> Int { (try? Directory.names(in: "/proc/self/fd"))?.count ?? -1 }

func countDescriptors(_ loop: EventLoop) throws {
    // The loop keeps one for all timers, from the first on.
    let timer = try loop.timer(on: .monotonic) {}
    print("before", openCount())
    var watches = ConditionWatches(on: loop, bus: nil, ConditionPlaces(stateDirectory: "/"))
    let conditions = Condition.plain + [.mount("/data"), .unlocked("/data/key", by: HandlerID(rawValue: 1))]
    for condition in conditions {
        watches.open(condition) { _ in }
        let opened = openCount()
        watches.close(condition)
        print(condition.word, opened, openCount())
    }
    for condition in conditions { watches.open(condition) { _ in } }
    let opened = openCount()
    watches = ConditionWatches(on: loop, bus: nil, ConditionPlaces(stateDirectory: "/"))
    print("all", opened, openCount())
    withExtendedLifetime(timer) {}
}

func report(_ loop: EventLoop) throws {
    let watches = ConditionWatches(on: loop, bus: nil, ConditionPlaces(stateDirectory: "/"))
    for condition in [Condition.power, .steady] {
        watches.open(condition) { isTrue in
            print(condition.word, isTrue)
            fflush(nil)
        }
    }
    _ = try withExtendedLifetime(watches) { try loop.run() }
}

let loop = try EventLoop()
if CommandLine.arguments.contains("descriptors") { try countDescriptors(loop) } else { try report(loop) }
