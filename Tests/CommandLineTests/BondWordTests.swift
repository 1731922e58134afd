// run and replay of a trace for a handler that requires bonds: told at once, because a trace proves none.
import Glibc
import TestBench
import Testing
import WakeSystem

@Suite("Bonds in a replay") struct BondWordTests {
    @Test("a trace is not played to a handler that requires bonded devices, which would be given nothing of it")
    func refused() throws {
        let directory = makeDirectory("/tmp/wakebond.XXXXXX")
        defer { Directory.removeTree(directory) }
        let trace = "\(packageFolder)/Devices/heart-rate-monitor/recording.trace"
        let manifest = "\(directory)/wary.json5"
        put(
            "{ exec: [\"/bin/cat\"], modes: [\"bluetooth-central\"], watch: [{ profile: \"heart-rate-monitor\" }],"
                + " require: [\"bonded\"] }", at: manifest)
        for words in [
            ["replay", trace, "--manifest", manifest, "--speed", "max"],
            ["run", "--manifest", manifest, "--replay", trace, "--", "/bin/cat"],
        ] {
            let outcome = try Child(["timeout", "20", Built.tool] + words).finish()
            #expect(outcome.exit == 1, "\(outcome.talk)")
            #expect(outcome.talk.contains("no device of a trace is bonded; take \"bonded\" out of require"))
        }
    }
}
