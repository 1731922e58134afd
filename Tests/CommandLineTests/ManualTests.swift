// The manual pages against what the programs accept: nothing more, nothing less.
import Glibc
import TestBench
import Testing

@testable import wakebridge

/// The options that lines of a manual page name.
private struct NamedOptions: Hashable {
    var long: Set<String> = []
    var short: Set<String> = []

    init(in lines: [String]) {
        for line in lines {
            let words = line.split { " .".contains($0) }
            for (flag, name) in zip(words, words.dropFirst()) where flag == "Fl" {
                if name.count == 1, name != "-" { short.insert(String(name)) }
                if name.count > 1, name.hasPrefix("-") { long.insert(String(name.dropFirst())) }
            }
        }
    }

    init(_ verb: Verb) {
        long = Set(verb.flags.map(\.name))
        short = Set(verb.flags.compactMap(\.short).map(String.init))
        // Said once for all verbs, at the top of the page.
        long.subtract(["socket", "runtime"])
    }
}

@Suite("Manual pages") struct ManualTests {
    static let verbs = Verb.all.map(\.name)

    @Test("wakebridge(1) gives each verb the options that it accepts, and no other", arguments: verbs)
    func options(verb name: String) throws {
        let verb = try #require(Verb.all.first { $0.name == name })
        // Those of several words have an entry for each.
        let entries = lines(of: "\(packageFolder)/docs/man/wakebridge.1").filter {
            $0 == ".It Cm \(name)" || $0.hasPrefix(".It Cm \(name) ")
        }
        #expect(NamedOptions(in: entries) == NamedOptions(verb))
    }

    @Test("wakebridged(8) has each option that the daemon's help shows, and no other; its synopsis has each too")
    func daemonOptions() throws {
        let help = try Child([Built.daemon, "--help"]).finish()
        let shown = help.output.split(separator: "\n").filter { $0.hasPrefix("  --") }
            .compactMap { $0.split(separator: " ").first?.dropFirst(2) }.map(String.init)
        #expect(help.exit == 0 && shown.contains("sweep"))
        let page = lines(of: "\(packageFolder)/docs/man/wakebridged.8")
        let documented = NamedOptions(in: page.filter { $0.hasPrefix(".It Fl") })
        #expect(documented.long == Set(shown))
        #expect(documented.short == ["h", "V"])
        for short in ["-h", "-V"] { #expect(try Child([Built.daemon, short]).finish().exit == 0) }
        let synopsis = NamedOptions(in: Array(page.prefix { $0 != ".Sh DESCRIPTION" }))
        #expect(synopsis.long == Set(shown).subtracting(["help", "version"]))
    }

    @Test(
        "the manual pages are set without a warning, and each refers to the other",
        arguments: ["wakebridge.1", "wakebridged.8"])
    func pages(name: String) throws {
        let page = "\(packageFolder)/docs/man/\(name)"
        let other = name == "wakebridge.1" ? ".Xr wakebridged 8" : ".Xr wakebridge 1"
        #expect(lines(of: page).contains { $0.hasPrefix(other) })
        guard access("/usr/bin/groff", X_OK) == 0 else { return }
        let set = try Child(["groff", "-mandoc", "-ww", "-b", "-z", "-Tutf8", page]).finish()
        #expect(set.exit == 0 && set.talk.isEmpty, "\(set.talk)")
    }

    @Test("the daemon ends with 2 where its words are wrong, and names the nearest right one")
    func wrongWords() throws {
        for words in [
            ["--runtme", "/x"], ["extra"], ["--speed", "2"], ["--from", "90s"], ["--replay", "t", "--speed", "0"],
        ] {
            let child = try Child([Built.daemon] + words).finish()
            #expect(child.exit == 2 && child.output.isEmpty && child.talk.contains("--help"), "\(words) \(child.talk)")
        }
        #expect(try Child([Built.daemon, "--runtme", "/x"]).finish().talk.contains("Did you mean --runtime?"))
    }
}
