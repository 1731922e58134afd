// A part that Scripts/prepare-NAME.sh makes below .build: tests look for it, and never make it.
import Glibc

package struct PreparedPart: Sendable {
    private let name: String
    package var folder: String { "\(packageFolder)/.build/\(name)" }

    package init(_ name: String) { self.name = name }

    /// Why the part is not whole: the script gave up, or a file is missing. Nil where all is there.
    package func hindrance(without files: String...) -> String? { reason ?? lack(of: files) }

    /// Where a file is missing, why; a reason that the script left for something else does not count.
    package func lack(of files: [String]) -> String? {
        guard let missing = files.first(where: { access($0, F_OK) != 0 }) else { return nil }
        return reason ?? "\(missing) is not there; run make prepare-tests"
    }

    /// A script leaves it where it gives up.
    private var reason: String? { lines(of: "\(folder)/reason").first }
}
