// What the daemon tells a service manager: that it is ready, that it still runs, and a line for its status.
import Glibc
import TestBench
import Testing
import WakeSystem

@Suite("Beside a service manager", .serialized) struct ServiceTests {
    private let daemon: RunningDaemon
    private let listener: Child

    /// Writes each datagram that comes to the socket as a line.
    private static let program = """
        import socket, sys
        notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notices.bind(sys.argv[1])
        while True:
            print(notices.recv(4096).decode().replace("\\n", " "), flush=True)
        """

    init() throws {
        daemon = try RunningDaemon.withStrap()
        let socket = daemon.folder + "/notices"
        try daemon.write(Self.program, to: "listen.py")
        let words = "exec python3 -u '\(daemon.folder)/listen.py' '\(socket)' >'\(daemon.folder)/told'"
        listener = try Child(["sh", "-c", words])
        let isListening = daemon.wait { File.exists(socket) }
        try #require(isListening)
        daemon.wrapper = ["env", "NOTIFY_SOCKET=\(socket)", "WATCHDOG_USEC=400000"]
    }

    private var told: [String] { lines(of: daemon.folder + "/told") }
    private var line: String? { told.last { $0.hasPrefix("STATUS=") } }

    @Test("it says that it is ready and still runs, and its line counts devices and names handlers that do not run")
    func tells() throws {
        defer { kill(listener.process, SIGTERM) }
        try daemon.drop("diary", manifest(daemon.folder + "/diary.py"))
        try daemon.start("--replay", daemon.folder + "/strap.trace")
        #expect(daemon.wait { told.contains("STATUS=1 device connected, 1 handler") }, "\(told)")
        #expect(told.contains("READY=1"))
        // The first comes with the beginning; the next one shows that it goes on.
        #expect(daemon.wait { told.count { $0 == "WATCHDOG=1" } > 1 }, "\(told)")
        #expect(try daemon.tool("stop", "diary").exit == 0)
        #expect(daemon.wait { told.contains("STATUS=1 device connected, 1 handler; stopped: diary") }, "\(told)")
    }

    @Test("its line says that Bluetooth has no adapter or is off, until there is one")
    func lacks() throws {
        defer { kill(listener.process, SIGTERM) }
        let bus = try PrivateBus()
        let bluez = try ScriptedBluez(on: bus)
        daemon.busAddress = bus.address
        try daemon.start()
        #expect(daemon.wait { line == "STATUS=0 devices connected, 0 handlers; no Bluetooth adapter" }, "\(told)")
        for command in ["adapter hci0", "live"] { try bluez.tell(command) }
        #expect(daemon.wait { line == "STATUS=0 devices connected, 0 handlers" }, "\(told)")
        try bluez.tell("power hci0 off")
        #expect(daemon.wait { line == "STATUS=0 devices connected, 0 handlers; Bluetooth is off" }, "\(told)")
    }
}
