// The shared libraries of the programs that were built: no large one in the daemon, and none that the README does not name.
import Testing

@Suite("Shared libraries")
struct LinkageTests {
    @Test(
        "the built daemon links neither libcurl nor libcrypto nor libmicrohttpd, which brings TLS along, nor Foundation nor Dispatch"
    )
    func linksLittle() throws {
        let names = try ElfDependencies.names(of: builtPrograms + "/wakebridged")
        #expect(names.contains { $0.hasPrefix("libc.so") }, "\(names)")
        for unwanted in [
            "libcurl", "libcrypto", "libmicrohttpd", "libFoundation.so", "libFoundationNetworking", "libdispatch",
        ] {
            #expect(!names.contains { $0.hasPrefix(unwanted) }, "\(names)")
        }
    }

    @Test("the programs ask for the libraries that the README names, and for no other of Debian's")
    func libraries() throws {
        let own = [
            "libswift", "libFoundationEssentials", "lib_Foundation", "libc.so", "libm.so", "ld-linux", "libgcc_s",
            "libstdc++",
        ]
        let named = ["libsystemd.so", "libudev.so", "libsqlite3.so", "libcurl.so", "libz.so"]
        for program in ["wakebridge", "wakebridged"] {
            let asked = try ElfDependencies.names(of: "\(builtPrograms)/\(program)")
            let others = asked.filter { name in !(own + named).contains { name.hasPrefix($0) } }
            #expect(others == [] && asked.contains { $0.hasPrefix("libsqlite3.so") }, "\(program): \(others)")
        }
    }
}
