// A control server on a temporary Unix socket, and clients run as processes while its loop turns on the same thread.
import Glibc
import WakeControl
import WakeLoop
import WakeModel
import WakeSystem

/// A server, its loop and its directory; all on the test's own thread.
package final class Fixture {
    package let loop: EventLoop
    package let directory: String
    package let server: ControlServer
    package var path: String { directory + "/control.sock" }

    package init(
        group: UInt32? = nil, routes: Routes = Routes(),
        handle: @escaping (ControlRequest) -> ControlResponse
    ) throws {
        directory = makeDirectory("/tmp/wakecontrol.XXXXXX")
        loop = try EventLoop()
        server = try ControlServer(
            loop: loop, socketPath: directory + "/control.sock", group: group.map { ControlGroup($0) }, routes: routes,
            handle: handle)
    }

    deinit {
        server.close()
        unlink(path)
        rmdir(directory)
    }

    package struct Outcome {
        package var exit: Int32
        package var output: String
        package var talk: String
    }

    /// Runs a program to its end while the loop turns; `arguments` begins with the program.
    package func run(_ arguments: [String]) throws -> Outcome {
        let child = try Child(arguments)
        while !child.isOver { try loop.runOnce(timeout: .milliseconds(1)) }
        return Outcome(exit: child.exit, output: child.output, talk: child.talk)
    }

    package func turn(for time: TimeSpan = .seconds(5), until condition: () -> Bool) throws -> Bool {
        try loop.turn(for: time, until: condition)
    }
}

extension ControlRequest {
    /// As a person would note it: `POST /v1/simulate {"what":"memory"}`.
    package var line: String {
        let query = self.query.map { $0.value.isEmpty ? $0.name : "\($0.name)=\($0.value)" }.joined(separator: "&")
        let address = "\(method) /" + path.joined(separator: "/") + (query.isEmpty ? "" : "?" + query)
        return body.isEmpty ? address : "\(address) \(String(decoding: body, as: UTF8.self))"
    }
}
