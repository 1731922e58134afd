// What a line between the daemon and `wakebridge-transferd` may hold.
import Testing
import WakeModel

@testable import WakeTransfer

@Suite("Numbers of bytes in lines of wakebridge-transferd")
struct ByteCountTests {
    private let vast = "9223372036854775807"

    private func news(_ members: String) -> TransferNews? {
        AddressedNews(line: Array("{\"handler\":\"h\",\"number\":1,\(members)}".utf8))?.news
    }

    @Test("numbers of bytes are so small that those of all transfers can be added up; a total beyond that is none")
    func byteCounts() {
        #expect(news(#""is":"moved","done":5,"total":7"#) == .moved(done: 5, total: 7))
        for total in ["-1", vast] {
            #expect(news(#""is":"moved","done":5,"total":\#(total)"#) == .moved(done: 5, total: nil))
            #expect(news(#""is":"moved","done":\#(total)"#) == nil)
        }
        let ended = news(#""is":"ended","ok":true,"sent":-1,"received":\#(vast)"#)
        #expect(ended == .ended(TransferResult(sent: 0, received: 1 << 50)))
    }
}
