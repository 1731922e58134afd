// What this process has open now, as the kernel lists it.
import WakeSystem

/// What each open descriptor leads to, sorted. Other tests open and close theirs meanwhile: look for what only one has.
package func openDescriptors() -> [String] {
    names(in: "/proc/self/fd").compactMap { number in
        try? File.linkTarget(of: "/proc/self/fd/\(number)")
    }.sorted()
}
