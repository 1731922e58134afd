// Opens a condition as the daemon does and prints what it reports, a line each. It is a program of its own because devices
// that are made up show only to processes that were started for them.
import Glibc
import WakeAgenda
import WakeEngine
import WakeLoop
import WakeSystem

let loop = try EventLoop()
let watches = ConditionWatches(on: loop, bus: nil, ConditionPlaces(stateDirectory: "/"))
for condition in [Condition.power, .steady] {
    watches.open(condition) { isTrue in
        print(condition.word, isTrue)
        fflush(nil)
    }
}
_ = try loop.run()
