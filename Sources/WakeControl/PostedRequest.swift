// An order that did not come over HTTP, as a request of the same API.
import WakeModel

extension ControlRequest {
    /// - Parameters:
    ///   - body: one JSON object.
    ///   - role: what those who give such orders may do.
    package init(posting body: [UInt8], to path: [String], as role: AccessRole) {
        self.init(method: "POST", path: path)
        self.body = body
        access = .role(role)
    }
}
