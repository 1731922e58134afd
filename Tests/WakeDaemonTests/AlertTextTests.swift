// How a handler's text for people becomes an argument on a program's command line.
import Testing

@testable import WakeDaemon

@Suite("Texts of alarms") struct AlertTextTests {
    @Test(
        "a sentence is given to a program as it is; an option, a list or a file's name has a space before it",
        arguments: [
            ("Take the pill", "Take the pill"), ("2 pills now", "2 pills now"), ("Ä pill", "Ä pill"), ("", " "),
            ("-f/etc/shadow", " -f/etc/shadow"), ("--file x", " --file x"), ("@/etc/shadow x", " @/etc/shadow x"),
            ("/etc/shadow", " /etc/shadow"), ("etc/shadow", " etc/shadow"), ("swapfile", " swapfile"),
            ("Take 1/2 pill", " Take 1/2 pill"), ("+x y", " +x y"), ("\u{301}-f x", " \u{301}-f x"),
        ])
    func argument(text: String, argument: String) { #expect(text.asHarmlessArgument == argument) }
}
