// The commands that messages advise: those of the machine's own way to start services.
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("The commands for services") struct InitSystemTests {
    @Test("a machine on which systemd runs has systemctl, and any other has service")
    func commands() throws {
        let root = makeDirectory("/tmp/wakeinit.XXXXXX")
        defer { Directory.removeTree(root) }
        #expect(InitSystem(below: root).command(.start, "bluetooth") == "service bluetooth start")
        try Directory.create(root + "/run/systemd/system", mode: 0o755)
        #expect(InitSystem(below: root).command(.start, "bluetooth") == "systemctl start bluetooth")
    }

    @Test("only systemd has a service of the bridge; any other bridge is started by hand")
    func bridge() {
        #expect(InitSystem.systemd.restartOfBridge(isOfSystem: true) == "sudo systemctl restart wakebridged")
        for bridge in [
            InitSystem.systemd.restartOfBridge(isOfSystem: false),
            InitSystem.scripts.restartOfBridge(isOfSystem: false),
        ] {
            #expect(bridge == "end it, and start it again with 'wakebridged'")
        }
        #expect(
            InitSystem.scripts.restartOfBridge(isOfSystem: true) == "end it, and start it again with 'sudo wakebridged'"
        )
    }

    @Test("two paths of one directory are the same, and a directory that is not there is only itself")
    func sameDirectory() throws {
        let root = makeDirectory("/tmp/wakesame.XXXXXX")
        defer { Directory.removeTree(root) }
        try Directory.create(root + "/one", mode: 0o755)
        #expect(File.isSame(root + "/one/../one", as: root + "/one/") && !File.isSame(root, as: root + "/one"))
        #expect(File.isSame(root + "/gone", as: root + "/gone") && !File.isSame(root + "/gone", as: root + "/one"))
    }
}
