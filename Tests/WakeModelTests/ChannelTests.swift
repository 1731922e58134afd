// The names of streams: how long they may be, and what is no name.
import Testing
import WakeModel

@Suite("Names of streams") struct ChannelTests {
    private let long = String(repeating: "a", count: Channel.longestName + 1)

    @Test("a stream of an unknown source keeps its name if the journal can keep it, and has none otherwise")
    func kept() {
        #expect(Channel(kept: String(long.dropFirst())) == .stream(String(long.dropFirst())))
        for name in [long, "", "two words"] { #expect(Channel(kept: name) == nil, "\(name)") }
    }

    @Test("a source whose stream has a longer name than the journal can keep is told so in one sentence")
    func fault() {
        #expect(SourceKind("tick", uriPrefix: "/tick/", streams: ["tick"]).fault == nil)
        #expect(SourceKind("tick", uriPrefix: "/tick/", streams: [String(long.dropFirst())]).fault == nil)
        #expect(
            SourceKind("tick", uriPrefix: "/tick/", streams: ["tick", long]).fault
                == "source 'tick' names a stream with 256 bytes, and 255 are the most")
    }
}
