// What is read out of a datagram of sd_notify(3), and what is none.
import Testing
import WakeModel

@Suite("Messages of sd_notify") struct ServiceMessageTests {
    private func parse(_ text: String) -> ServiceMessage? { ServiceMessage(parsing: Array(text.utf8)[...]) }

    @Test("ready, status, extension and the trigger are understood, in one datagram or many")
    func understood() {
        #expect(parse("READY=1")?.orders == [.ready])
        #expect(parse("EXTEND_TIMEOUT_USEC=1500000\n")?.orders == [.extend(.milliseconds(1_500))])
        #expect(parse("WATCHDOG=trigger")?.orders == [.abort])
        let message = parse("STATUS=half way\nREADY=1\nEXTEND_TIMEOUT_USEC=18446744073709551615")
        #expect(message?.status == "half way")
        #expect(message?.orders == [.ready, .extend(.seconds(86_400))])
    }

    @Test(
        "words that mean nothing here are passed over",
        arguments: ["WATCHDOG=1", "STOPPING=1", "MAINPID=1", "BARRIER=1", "FDSTORE=1\nFDNAME=a", "READY=0", "X_A="])
    func passedOver(text: String) {
        #expect(parse(text) == ServiceMessage(parsing: Array("RELOADING=1".utf8)[...]))
    }

    @Test(
        "what is no message, or holds a value that cannot be read, is none",
        arguments: [
            "", "READY", "=1", "READY=1\nnonsense", "READY=1\u{0}", "EXTEND_TIMEOUT_USEC=", "EXTEND_TIMEOUT_USEC=0",
            "EXTEND_TIMEOUT_USEC=-1", "EXTEND_TIMEOUT_USEC=99999999999999999999999",
        ])
    func refused(text: String) {
        #expect(parse(text) == nil)
    }

    @Test("a status is text without control characters, cut at a whole character")
    func status() {
        #expect(ServiceMessage(parsing: (Array("STATUS=".utf8) + [0xc3])[...]) == nil)
        #expect(parse("STATUS=a\u{1b}[2Jb")?.status == "a\u{fffd}[2Jb")
        #expect(parse("STATUS=")?.status?.isEmpty == true)
        let long = parse("STATUS=x" + String(repeating: "é", count: 300))?.status
        #expect(long?.utf8.count == 255 && long?.last == "é")
    }
}
