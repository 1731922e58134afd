// An order that did not come over HTTP, as a request of the same API.

extension ControlRequest {
    /// - Parameter body: one JSON object.
    package init(posting body: [UInt8], to path: [String]) {
        self.init(method: "POST", path: path)
        self.body = body
    }
}
