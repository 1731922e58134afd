// The page that adds a device: its diff is what was done, from the draft of a trace to the profile that ships.
import DeviceLibrary
import TestBench
import Testing
import WakeAuthoring
import WakeSystem

@Suite("The page that adds a device profile")
struct AddDevicePageTests {
    @Test("the draft of the example's answers, changed as the page shows, is the profile that ships")
    func example() throws {
        let diffs = try Document("docs/how-to/add-a-device-profile.md").blocks.filter { $0.language == "diff" }
        #expect(diffs.count == 1)
        let device = "\(ShippedLibrary.folder)/radoneye-rd200"
        let draft = try #require(try ProfileDraft(ofTrace: PublishedTrace(of: "radoneye-rd200", first: 3).text))
        let work = makeDirectory("/tmp/wakebridge-draft-XXXXXX")
        defer { Directory.removeTree(work) }
        put(draft.text(named: "radoneye-rd200", known: [:]), at: "\(work)/profile.json5")
        put(String(diffs[0].text) + "\n", at: "\(work)/patch")
        let patch = try Child(["git", "-C", work, "apply", "--recount", "patch"]).finish()
        #expect(patch.exit == 0, "\(patch.talk)")
        #expect(text(of: "\(work)/profile.json5") == text(of: "\(device)/profile.json5"))
    }
}
