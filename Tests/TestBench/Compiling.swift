// C files of these tests, compiled where they are needed.

/// False where it cannot be built, or there is no compiler; why is printed. `source` is a file below Tests.
package func compile(_ source: String, _ options: [String], to product: String) -> Bool {
    do {
        let words = ["gcc", "-Wall"] + options + ["-o", product, "\(packageFolder)/Tests/\(source)"]
        let (exit, _, talk) = try Child(words).finish()
        if exit != 0 { print("\(source) could not be built: \(talk)") }
        return exit == 0
    } catch {
        print("\(source) could not be built, for want of gcc: \(error)")
        return false
    }
}
