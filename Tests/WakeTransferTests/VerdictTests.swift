// What each answer of a server means for the bytes that lie on the disk: tables of answers that are good, strange and hostile.
import Testing
import WakeModel

@testable import WakeTransfer

private func head(_ lines: String...) -> ResponseHead {
    var head = ResponseHead()
    for line in lines { _ = head.add(Array((line + "\r\n").utf8)) }
    return head
}

private func part(
    _ offset: Int64, _ validator: PartValidator? = .etag("\"a\""), total: Int64? = 200,
    of address: String = "http://h/f"
) -> PartRecord {
    var record = PartRecord(number: 1, address: address)
    (record.offset, record.validator, record.total) = (offset, validator, total)
    return record
}

@Suite("Answers to a download")
struct DownloadVerdictTests {
    static let cases: [(ResponseHead, PartRecord, Verdict)] = [
        (head("HTTP/1.1 200 OK", "Content-Length: 200"), part(0), .write(at: 0, total: 200)),
        (head("HTTP/2 200", "content-length: 200"), part(0), .write(at: 0, total: 200)),
        (head("HTTP/1.1 200 OK"), part(0), .write(at: 0, total: nil)),
        (head("HTTP/1.1 200 OK", "Content-Length: -1"), part(0), .write(at: 0, total: nil)),
        (head("HTTP/1.1 203 Non-Authoritative", "Content-Length: 3"), part(0), .write(at: 0, total: 3)),
        // None of these carries the file: an empty or unfinished one would take its place.
        (head("HTTP/1.1 201 Created", "Content-Length: 3"), part(0), .fail(.status)),
        (head("HTTP/1.1 202 Accepted", "Content-Length: 3"), part(0), .fail(.status)),
        (head("HTTP/1.1 204 No Content"), part(0), .fail(.status)),
        (head("HTTP/1.1 205 Reset Content"), part(100), .fail(.status)),
        (head("HTTP/1.1 226 IM Used"), part(0), .fail(.status)),
        // Ranges ignored: all of it comes again.
        (head("HTTP/1.1 200 OK", "Content-Length: 200", "ETag: \"a\""), part(100), .write(at: 0, total: 200)),
        // Compressed, though it was asked for as it is.
        (head("HTTP/1.1 200 OK", "Content-Encoding: gzip"), part(0), .fail(.encoded)),
        (
            head("HTTP/1.1 206 Partial Content", "Content-Range: bytes 100-199/200", "Content-Encoding: br"), part(100),
            .fail(.encoded)
        ),
        (head("HTTP/1.1 200 OK", "Content-Encoding: identity"), part(0), .write(at: 0, total: nil)),
        (head("HTTP/1.1 200 OK", "Content-Encoding: identity, zstd"), part(0), .fail(.encoded)),
        // Labels that name no compression.
        (head("HTTP/1.1 200 OK", "Content-Encoding: none", "Content-Length: 3"), part(0), .write(at: 0, total: 3)),
        (head("HTTP/1.1 200 OK", "Content-Encoding: utf-8", "Content-Length: 3"), part(0), .write(at: 0, total: 3)),
        // The file itself is compressed, and the label says no more than that.
        (
            head("HTTP/1.1 200 OK", "Content-Encoding: x-gzip", "Content-Length: 24"),
            part(0, of: "http://h/a.tar.gz?x=1.txt"), .write(at: 0, total: 24)
        ),
        (
            head("HTTP/1.1 200 OK", "Content-Type: Application/X-Gzip; q=1", "Content-Encoding: gzip"), part(0),
            .write(at: 0, total: nil)
        ),
        (
            head("HTTP/1.1 206 Partial Content", "Content-Range: bytes 100-199/200", "Content-Encoding: zstd"),
            part(100, of: "http://h/a.ZST"), .write(at: 100, total: 200)
        ),
        (head("HTTP/1.1 200 OK", "Content-Encoding: br"), part(0, of: "http://h/a.tar.gz"), .fail(.encoded)),
        (head("HTTP/1.1 200 OK", "Content-Encoding: gzip"), part(0, of: "http://h.gz/f"), .fail(.encoded)),
        // A transfer coding has an end of its own, on whichever side of the length it comes.
        (
            head("HTTP/1.1 200 OK", "Content-Length: 15", "Transfer-Encoding: chunked"), part(0),
            .write(at: 0, total: nil)
        ),
        (
            head("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "Content-Length: 15"), part(0),
            .write(at: 0, total: nil)
        ),
        (head("HTTP/1.1 200 OK", "Content-Length: 15, 15", "Content-Length: 15"), part(0), .write(at: 0, total: 15)),
        (head("HTTP/1.1 200 OK", "Content-Length: 15", "Content-Length: 20"), part(0), .fail(.head)),
        // A length that no number holds is not a missing one.
        (
            head("HTTP/1.1 200 OK", "Content-Length: 99999999999999999999"), part(0),
            .write(at: 0, total: .max)
        ),
        (
            head("HTTP/1.1 206 Partial Content", "Content-Range: bytes 0-99/99999999999999999999"), part(0),
            .write(at: 0, total: .max)
        ),
        (
            head("HTTP/1.1 206 Partial Content", "Content-Range: bytes 100-199/200", "ETag: \"a\""), part(100),
            .write(at: 100, total: 200)
        ),
        // Shifted: it begins before what is here, and is written over it.
        (
            head("HTTP/1.1 206 Partial Content", "Content-Range: bytes 90-199/200"), part(100),
            .write(at: 90, total: 200)
        ),
        (head("HTTP/1.1 206 Partial Content", "Content-Range: bytes 0-199/200"), part(100), .write(at: 0, total: 200)),
        // Shifted the other way: bytes between are missing.
        (head("HTTP/1.1 206 Partial Content", "Content-Range: bytes 101-199/200"), part(100), .restart),
        (
            head("HTTP/1.1 206 Partial Content", "Content-Range: bytes 100-149/*"), part(100),
            .write(at: 100, total: 200)
        ),
        // Nothing says that the file ends where this does.
        (head("HTTP/1.1 206 Partial Content", "Content-Range: bytes 100-149/*"), part(100, total: nil), .restart),
        (head("HTTP/1.1 206 Partial Content", "Content-Range: bytes 0-199/*", "ETag: \"b\""), part(100), .restart),
        // Another version, told by a server that does not heed If-Range.
        (head("HTTP/1.1 206 Partial Content", "Content-Range: bytes 100-199/200", "ETag: \"b\""), part(100), .restart),
        (head("HTTP/1.1 206 Partial Content", "Content-Range: bytes 100-299/300"), part(100), .restart),
        (
            head("HTTP/1.1 206 Partial Content", "Content-Range: bytes 0-299/300", "ETag: \"b\""), part(100),
            .write(at: 0, total: 300)
        ),
        (head("HTTP/1.1 206 Partial Content"), part(100), .restart),
        (head("HTTP/1.1 206 Partial Content", "Content-Range: bytes 199-100/200"), part(100), .restart),
        (head("HTTP/1.1 206 Partial Content", "Content-Range: bytes 100-200/200"), part(100), .restart),
        (head("HTTP/1.1 206 Partial Content", "Content-Range: bytes -100-199/200"), part(100), .restart),
        (head("HTTP/1.1 206 Partial Content", "Content-Range: lines 100-199/200"), part(100), .restart),
        (
            head(
                "HTTP/1.1 206 Partial Content", "Content-Type: multipart/byteranges; boundary=x",
                "Content-Range: bytes 100-199/200"), part(100), .restart
        ),
        (head("HTTP/1.1 416 Range Not Satisfiable", "Content-Range: bytes */200"), part(200), .complete),
        (head("HTTP/1.1 416 Range Not Satisfiable", "Content-Range: bytes */199"), part(200), .restart),
        (head("HTTP/1.1 416 Range Not Satisfiable"), part(200), .restart),
        (head("HTTP/1.1 416 Range Not Satisfiable", "Content-Range: bytes */200", "ETag: \"b\""), part(200), .restart),
        (head("HTTP/1.1 416 Range Not Satisfiable"), part(0), .fail(.status)),
        (head("HTTP/1.1 301 Moved", "Location: /x"), part(0), .redirect),
        (head("HTTP/1.1 302 Found"), part(0), .redirect), (head("HTTP/1.1 303 See Other"), part(0), .redirect),
        (head("HTTP/1.1 307 Temporary"), part(0), .redirect), (head("HTTP/1.1 308 Permanent"), part(0), .redirect),
        (head("HTTP/1.1 304 Not Modified"), part(100), .fail(.status)),
        (
            head("HTTP/1.1 401 Unauthorized", "WWW-Authenticate: Basic realm=\"r\""), part(0),
            .challenge(realm: "Basic realm=\"r\"")
        ),
        (head("HTTP/1.1 403 Forbidden"), part(0), .fail(.status)),
        (head("HTTP/1.1 404 Not Found"), part(0), .fail(.status)),
        (head("HTTP/1.1 407 Proxy"), part(0), .fail(.status)),
        (head("HTTP/1.1 408 Timeout"), part(0), .retry(after: nil)),
        (head("HTTP/1.1 425 Too Early"), part(0), .retry(after: nil)),
        (head("HTTP/1.1 429 Too Many", "Retry-After: 7"), part(0), .retry(after: "7")),
        (head("HTTP/1.1 500 Oops"), part(0), .retry(after: nil)),
        (head("HTTP/1.1 502 Bad"), part(0), .retry(after: nil)),
        (
            head("HTTP/1.1 503 Busy", "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT"), part(0),
            .retry(after: "Sun, 06 Nov 1994 08:49:37 GMT")
        ),
        (head("HTTP/1.1 504 Late"), part(0), .retry(after: nil)), (head("HTTP/1.1 501 No"), part(0), .fail(.status)),
        (head("nonsense"), part(0), .retry(after: nil)), (head("HTTP/1.1"), part(0), .retry(after: nil)),
        (head("HTTP/1.1 abc"), part(0), .retry(after: nil)),
        (
            head("HTTP/1.1 99999999999999999999"), part(0),
            .retry(after: nil)
        ),
        // The last of several heads counts.
        (head("HTTP/1.1 100 Continue", "HTTP/1.1 200 OK", "Content-Length: 3"), part(0), .write(at: 0, total: 3)),
    ]

    @Test("each is appended, written over what is there, kept out or tried again, as its head says", arguments: cases)
    func verdict(answer: ResponseHead, having part: PartRecord, verdict: Verdict) {
        #expect(Verdict(answer, having: part) == verdict)
    }

    @Test("a head that does not end is given up, by its lines and by its bytes")
    func endlessHead() {
        let lines = (0..<300).map { _ in "x: y" }
        #expect(linesTaken(lines) == ResponseHead.mostLines)
        #expect(linesTaken(lines.map { _ in "HTTP/1.1 100 Continue" }) == ResponseHead.mostLines)
        #expect(linesTaken([String(repeating: "x", count: ResponseHead.mostBytes)]) == 0)
    }

    @Test("a head is whole at its empty line, and not before; another one begins it again")
    func wholeHead() {
        #expect(!head("HTTP/1.1 200 OK", "Content-Length: 3").isWhole)
        #expect(head("HTTP/1.1 200 OK", "Content-Length: 3", "").isWhole)
        #expect(!head("HTTP/1.1 103 Early Hints", "", "HTTP/1.1 200 OK").isWhole)
    }

    @Test("of what a server says of itself no more is kept than one writes")
    func longWords() {
        let long = String(repeating: "x", count: 5_000)
        #expect(head("HTTP/1.1 200 OK", "ETag: \"\(long)\"", "Last-Modified: \(long)").validator == nil)
        #expect(head("HTTP/1.1 401 Who", "WWW-Authenticate: \(long)").challenge?.count == 512)
    }

    private func linesTaken(_ lines: [String]) -> Int {
        var head = ResponseHead()
        return lines.prefix { head.add(Array("\($0)\r\n".utf8)) }.count
    }

    @Test("a weak ETag joins no parts; a date does where there is no strong one")
    func validators() {
        #expect(head("HTTP/1.1 200 OK", "ETag: W/\"a\"").validator == nil)
        #expect(head("HTTP/1.1 200 OK", "ETag: \"a\"", "Last-Modified: x").validator == .etag("\"a\""))
        #expect(head("HTTP/1.1 200 OK", "ETag: W/\"a\"", "Last-Modified: x").validator == .date("x"))
    }

    @Test("what is missing is asked for only where its version has a name")
    func ranges() {
        #expect(part(100).requestHeaders == ["Range: bytes=100-", "If-Range: \"a\""])
        #expect(part(100, .date("d")).requestHeaders == ["Range: bytes=100-", "If-Range: d"])
        #expect(part(100, nil).requestHeaders.isEmpty && part(0).requestHeaders.isEmpty)
    }

    @Test("a body is whole when all of it is here, and without a length when it ended in order")
    func ends() {
        #expect(BodyEnd(isClean: true, have: 200, total: 200) == .whole)
        #expect(BodyEnd(isClean: false, have: 200, total: 200) == .whole)
        #expect(BodyEnd(isClean: true, have: 199, total: 200) == .cut)
        #expect(BodyEnd(isClean: true, have: 5, total: nil) == .whole)
        #expect(BodyEnd(isClean: false, have: 5, total: nil) == .cut)
    }

    @Test("10 GiB are refused where a twentieth of the disk would not stay free")
    func room() {
        let gigabyte: UInt64 = 1 << 30
        #expect(!TransferRoom.has(10 << 30, available: 10 * gigabyte, of: 100 * gigabyte))
        #expect(TransferRoom.has(10 << 30, available: 15 * gigabyte, of: 100 * gigabyte))
        #expect(!TransferRoom.has(nil, available: 50 << 20, of: gigabyte))
        #expect(!TransferRoom.has(.max, available: .max / 2, of: .max / 2))
    }

    @Test("room is waited for where others fill the disk, not where the file itself does, or is larger than the disk")
    func roomToCome() {
        let gigabyte: UInt64 = 1 << 30
        let mayCome = { (whole: Int64?, have: Int64, available: UInt64) in
            TransferRoom.mayCome(for: whole, having: have, available: available, of: 10 * gigabyte)
        }
        #expect(mayCome(9 << 30, 1 << 30, 0))
        #expect(!mayCome(10 << 30, 0, 0))
        #expect(!mayCome(1 << 20, 2 << 20, 0), "more came than was announced")
        #expect(mayCome(nil, 0, 0) && mayCome(nil, 100 << 20, 100 << 20))
        #expect(!mayCome(nil, 1 << 30, 100 << 20), "without it there would be room")
    }
}

@Suite("Answers to an upload")
struct UploadVerdictTests {
    @Test(
        "an upload is taken, sent on as it is, or tried again from its beginning; never made another request of",
        arguments: [
            ("HTTP/1.1 200 OK", Verdict.accepted), ("HTTP/1.1 201 Created", .accepted),
            ("HTTP/1.1 204 None", .accepted),
            ("HTTP/1.1 301 Moved", .fail(.redirect)), ("HTTP/1.1 303 See Other", .fail(.redirect)),
            ("HTTP/1.1 307 Temporary", .redirect), ("HTTP/1.1 308 Permanent", .redirect),
            ("HTTP/1.1 401 Unauthorized", .challenge(realm: "")), ("HTTP/1.1 413 Large", .fail(.status)),
            ("HTTP/1.1 503 Busy", .retry(after: nil)),
        ])
    func verdict(line: String, verdict: Verdict) { #expect(Verdict(ofUpload: head(line)) == verdict) }
}

@Suite("Redirects, addresses and paths of transfers")
struct AddressTests {
    @Test("ten redirects are followed, and none from https to http, to another scheme or to nowhere")
    func redirects() throws {
        let plain = try #require(WebAddress("http://h/f"))
        let secure = try #require(WebAddress("https://h/f"))
        #expect(
            Redirection(from: plain, to: "https://h/g", followed: 9) == .follow(try #require(WebAddress("https://h/g")))
        )
        #expect(Redirection(from: plain, to: "https://h/g", followed: 10) == .refuse(.redirects))
        #expect(Redirection(from: secure, to: "http://h/g", followed: 0) == .refuse(.insecureRedirect))
        for target in [nil, "", "/g", "file:///etc/passwd", "ftp://h/", "http://u:p@h/"] {
            #expect(Redirection(from: plain, to: target, followed: 0) == .refuse(.redirect), "\(target ?? "nil")")
        }
    }

    @Test(
        "what is no plain address of http or https is none",
        arguments: [
            "", "h", "http:", "http://", "http:///f", "http://:80/", "ftp://h/", "file:///f", "http://u@h/",
            "http://u:p@h/f",
            "http://h/ f", "http://h/\u{7f}", "http://h/ä", "http://h\n/", "javascript://h", "http://h\\@g/",
            "http://\(String(repeating: "h", count: 2_100))/",
        ])
    func badAddresses(text: String) { #expect(WebAddress(text) == nil) }

    @Test("hosts are counted with their port, whatever case they are written in")
    func hosts() {
        #expect(WebAddress("HTTP://Example.ORG:8080/f?x#y")?.host == "example.org:8080")
        #expect(WebAddress("https://h")?.isSecure == true)
    }

    @Test(
        "a path that leads out of the state directory, or among the parts, is refused",
        arguments: [
            "", "/", "/etc/passwd", "..", "../x", "a/../b", "a/..", "a//b", "a/", "./a", "a/./b", ".transfers/1.part",
            ".transfers", "a\u{0}b", "a\nb", "a\u{202e}b", String(repeating: "a", count: 256),
            String(repeating: "a/", count: 600) + "a",
        ])
    func badPaths(path: String) { #expect(!TransferPath.isPlain(path)) }

    @Test("a plain path is taken", arguments: ["17.jpg", "a/b/c", ".hidden", "..a", "a..", "ä ö"])
    func goodPaths(path: String) { #expect(TransferPath.isPlain(path)) }
}

@Suite("How long a transfer waits after a failure")
struct RetryPaceTests {
    private let wall = WallTime(rfc3339: "2026-11-26T12:00:00Z") ?? WallTime(microseconds: 0)

    @Test("the wait doubles from a second to an hour, and begins again when bytes have come")
    func doubles() {
        var pace = RetryPace()
        let waits = (0..<14).map { _ in pace.next(asked: nil, at: wall).nanoseconds / 1_000_000_000 }
        #expect(waits.prefix(5) == [1, 2, 4, 8, 16] && waits.suffix(2) == [3_600, 3_600])
        pace.reset()
        #expect(pace.next(asked: nil, at: wall) == .seconds(1))
    }

    @Test(
        "a server that names a time or a number of seconds is not asked sooner, and no later than after a day",
        arguments: [
            ("7", 7), ("0", 1), ("-5", 1), ("nonsense", 1), ("99999999999", 86_400), ("99999999999999999999", 86_400),
            ("Thu, 26 Nov 2026 12:00:30 GMT", 30), ("Thu, 26 Nov 2026 11:00:00 GMT", 1),
            ("Thu, 26 Foo 2026 12:00:30 GMT", 1), ("Fri, 26 Nov 2027 12:00:00 GMT", 86_400),
        ])
    func asked(text: String, seconds: Int64) {
        var pace = RetryPace()
        #expect(pace.next(asked: text, at: wall) == .seconds(seconds))
    }
}

@Suite("Places at a host")
struct HostSlotTests {
    @Test("two of one host are asked at a time, in the order in which they came; another host does not wait for them")
    func slots() {
        var slots = HostSlots()
        for number in 1...4 { slots.enter(TransferID("h", Int64(number)), "a") }
        slots.enter(TransferID("h", 5), "b")
        #expect(slots.removeAdmitted().map(\.number) == [1, 2, 5])
        #expect(slots.removeAdmitted().isEmpty)
        slots.leave(TransferID("h", 3), "a")
        slots.leave(TransferID("h", 1), "a")
        #expect(slots.removeAdmitted().map(\.number) == [4])
        for number in [2, 4, 5] { slots.leave(TransferID("h", Int64(number)), number == 5 ? "b" : "a") }
        #expect(!slots.isBusy)
    }
}

@Suite("Lines between the daemon and transferd")
struct TransferLineTests {
    private let id = TransferID("hr", 17)

    private func order() throws -> TransferOrder {
        var order = TransferOrder(try #require(WebAddress("http://h/f")), .upload(from: "out/f", .post))
        (order.expectedSent, order.sha256) = (5, String(repeating: "a", count: 64))
        return order
    }

    @Test("each command and each news reads back as it was written")
    func lines() throws {
        let commands: [TransferCommand] = [
            .start(try order()), .pause, .cancel, .confirm, .answer(TransferCredential(user: "u", password: "p\"")),
        ]
        for command in commands {
            let read = AddressedCommand(line: command.line(for: id, in: "/state").dropLast())
            #expect(read?.command == command && read?.id == id)
        }
        let news: [TransferNews] = [
            .held, .moved(done: 1, total: nil), .moved(done: 1, total: 2), .retries(in: .seconds(3), because: "cut"),
            .challenged(realm: "r"), .ended(TransferResult(status: 200, received: 5)),
            .ended(TransferResult(failure: .checksum, status: 200, received: 5)),
        ]
        for one in news {
            let read = AddressedNews(line: one.line(of: id).dropLast())
            #expect(read?.news == one && read?.id == id)
        }
    }

    @Test(
        "what is no line of the protocol is none",
        arguments: [
            "", "[]", "{}", #"{"handler":"h","number":1}"#, #"{"handler":"h","number":0,"is":"held"}"#,
            #"{"handler":"h","number":1,"is":"moved","done":-1}"#, #"{"handler":"h","number":1,"is":"ended"}"#,
            #"{"handler":"h","number":1,"is":"retries","in_ms":-1}"#,
            #"{"handler":"h","number":1,"do":"start","directory":"/s","url":"http://h/","to":"../x"}"#,
            #"{"handler":"h","number":1,"do":"start","directory":"s","url":"http://h/","to":"x"}"#,
            #"{"handler":"h","number":1,"do":"answer","user":"u"}"#,
        ])
    func badLines(line: String) {
        #expect(AddressedNews(line: Array(line.utf8)) == nil && AddressedCommand(line: Array(line.utf8)) == nil)
    }

    @Test("a record reads back as it was written, in each phase")
    func records() throws {
        var record = part(100)
        for phase in [
            PartRecord.Phase.moving, .placing(TransferResult(received: 5)), .ended(TransferResult(failure: .gaveUp)),
        ] {
            record.phase = phase
            #expect(PartRecord(record.bytes) == record)
        }
        for text in ["", "{}", #"{"number":1}"#, #"{"number":1,"url":"x","offset":-1}"#] {
            #expect(PartRecord(Array(text.utf8)) == nil)
        }
    }
}
