// The files of the page that the bridge shows to browsers, and how one is answered.

public struct PageFile: Hashable, Sendable {
    public var type: String
    public var bytes: [UInt8]
    /// The same for a client that takes gzip; empty where there is no such form.
    public var gzip: [UInt8]
    /// With its quotes.
    public var entityTag: String
    /// The values of the headers Cache-Control and Content-Security-Policy.
    public var cacheControl: String
    public var policy: String

    public init(
        type: String, bytes: [UInt8], gzip: [UInt8], entityTag: String, cacheControl: String, policy: String
    ) {
        (self.type, self.bytes, self.gzip) = (type, bytes, gzip)
        (self.entityTag, self.cacheControl, self.policy) = (entityTag, cacheControl, policy)
    }
}

public protocol PageFiles: Sendable {
    /// - Parameter path: what follows the prefix, with a slash in front.
    func file(at path: String) -> PageFile?
}

/// The request headers of a browser about the forms that it takes and has.
struct PageRequest: Hashable {
    var acceptsGzip = false
    var knownTag: String?

    /// Nil where the path belongs to the API, or is of no file.
    func answer(to request: ControlRequest, from files: (any PageFiles)?) -> ControlResponse? {
        guard let files, ["GET", "HEAD"].contains(request.method), !["v1", "metrics"].contains(request.path.first),
            let file = files.file(at: "/" + request.path.joined(separator: "/"))
        else { return nil }
        return .content(content(of: file))
    }

    private func content(of file: PageFile) -> ControlContent {
        var content = ControlContent(type: file.type, [])
        content.headers = [
            .init("Cache-Control", file.cacheControl), .init("ETag", file.entityTag), .init("Vary", "Accept-Encoding"),
            .init("Content-Security-Policy", file.policy), .init("X-Frame-Options", "DENY"),
            .init("Referrer-Policy", "no-referrer"),
        ]
        if knownTag == file.entityTag {
            content.status = 304
        } else if acceptsGzip, !file.gzip.isEmpty {
            content.bytes = file.gzip
            content.headers.append(.init("Content-Encoding", "gzip"))
        } else {
            content.bytes = file.bytes
        }
        return content
    }
}
