// The limit of a token's messages to an inbox, decided without a socket.
import Testing
import WakeAgenda
import WakeModel

@testable import WakeAPI

@Suite("What a token may send") struct SenderAllowancesTests {
    private let start = Instant(nanoseconds: 0)

    private func sender(_ token: String, _ handler: UInt32 = 1) -> SenderAllowances.Sender {
        SenderAllowances.Sender(token: token, handler: HandlerID(rawValue: handler))
    }

    private func frequency(_ text: String) throws -> InboxRule.Frequency {
        try InboxRule(.object([.init(name: "accept", value: .string(text))])).acceptance
    }

    @Test("sixty messages may come at once, then one a second; other tokens and other inboxes count for themselves")
    func minute() throws {
        var allowances = SenderAllowances()
        let rate = InboxRule().acceptance
        for _ in 0..<60 { #expect(allowances.delay(sender("a"), rate, at: start) == nil) }
        #expect(allowances.delay(sender("a"), rate, at: start) == .seconds(1))
        #expect(allowances.delay(sender("b"), rate, at: start) == nil)
        #expect(allowances.delay(sender("a", 2), rate, at: start) == nil)
        #expect(allowances.delay(sender("a"), rate, at: start + .seconds(1)) == nil)
        #expect(allowances.delay(sender("a"), rate, at: start + .seconds(1)) == .seconds(1))
    }

    @Test("a refused message is not counted, and after a whole period all may come again")
    func refused() throws {
        var allowances = SenderAllowances()
        let rate = try frequency("2/h")
        for _ in 0..<2 { #expect(allowances.delay(sender("a"), rate, at: start) == nil) }
        for _ in 0..<100 { #expect(allowances.delay(sender("a"), rate, at: start) == .seconds(1_800)) }
        let later = start + .seconds(3_600)
        for _ in 0..<2 { #expect(allowances.delay(sender("a"), rate, at: later) == nil) }
    }
}
