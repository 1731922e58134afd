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

    @Test("a characteristic that is not the first of its UUID has its number in its name, and is read back")
    func numbered() {
        let second = CharacteristicName(BluetoothUUID(short: 0x2a19), number: 2)
        #expect(
            Channel.characteristic(second).wireName.text == "2a19#2"
                && Channel(kept: "2a19#2") == .characteristic(second))
        #expect(Channel(wireName: "2a19") == .characteristic(second.first) && second.first.description == "2a19")
        #expect(Channel.characteristic(second).first == .characteristic(BluetoothUUID(short: 0x2a19)))
        for text in ["2a19#", "2a19#0", "2a19#1", "2a19#02", "2a19#17", "2a19#2#3", "#2", "2a1#2"] {
            #expect(Channel(wireName: text) == nil, "\(text)")
        }
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
