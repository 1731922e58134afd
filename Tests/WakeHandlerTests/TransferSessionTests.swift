// A session of transfers in the shape of a background URLSession: its tasks as lines of descriptor 3, and its delegate's calls.
import Testing
import WakeHandlerTesting
import WakeModel

@testable import WakeHandler

@Suite("A session of transfers")
@MainActor
struct TransferSessionTests {
    private final class Album: TransferSessionDelegate {
        var calls: [String] = []
        var completions: [@MainActor () -> Void] = []

        func transferSession(
            _ session: TransferSession, downloadTask: TransferTask, didFinishDownloadingTo path: String
        ) { calls.append("\(downloadTask.identifier) lies at \(path)") }

        func transferSession(
            _ session: TransferSession, task: TransferTask, didCompleteWith end: FinishedTransfer,
            failure: TransferFailure?
        ) { calls.append("\(task.identifier) \(failure?.word ?? "whole")") }

        func transferSession(
            _ session: TransferSession, task: TransferTask, didReceive challenge: TransferChallenge,
            completionHandler: @escaping @MainActor (TransferChallenge.Answer) -> Void
        ) { completionHandler(task.identifier == "19" ? .useCredential(user: "me", password: "word") : .cancelTask) }

        func transferSessionDidFinishEvents(
            _ session: TransferSession, finished: Int, failed: Int, completionHandler: @escaping @MainActor () -> Void
        ) {
            calls.append("\(session.identifier) \(finished) \(failed)")
            completions.append(completionHandler)
        }
    }

    private let fed = Fed()
    private let album = Album()

    private func finished(_ sequence: Int, _ id: String, _ more: String) -> String {
        occasion(
            sequence, "transfer.finished", of: "photos/\(id)",
            "{\"session\":\"photos\",\"id\":\"\(id)\",\(more),\"path\":\"\(id).jpg\"}")
    }

    private func challenge(_ sequence: Int, _ id: String) -> String {
        let data = "{\"session\":\"photos\",\"id\":\"\(id)\",\"realm\":\"r\"}"
        return occasion(sequence, "transfer.challenge", of: "photos/\(id)", data)
    }

    /// What was written; every line is one that the daemon can read.
    private func lines() throws -> [String] {
        let answers = fed.answers
        for answer in answers { _ = try ReplyLine.parse(Array(answer.utf8)[...]) }
        return answers
    }

    @Test("nothing is ordered before a task is resumed, and then all that was set on it")
    func orders() throws {
        let photos = fed.session.transferSession(withIdentifier: "photos")
        var options = TransferOptions()
        (options.earliestBegin, options.deadline, options.isPaused) = (.seconds(60), .seconds(3_600), true)
        options.expectedReceived = 512
        let download = photos.downloadTask("17", from: "http://h/17", to: "17.jpg", options: options)
        let upload = photos.uploadTask("18", fromFile: "out/18", to: "http://h/18", method: "POST")
        #expect(try lines().isEmpty)
        download.resume { _ in }
        upload.resume { _ in }
        download.cancel()
        #expect(
            try lines() == [
                "{\"transfer\":{\"to\":\"17.jpg\",\"url\":\"http://h/17\",\"not_before_s\":60,\"deadline_s\":3600,"
                    + "\"expect_received\":512,\"paused\":true,\"session\":\"photos\",\"id\":\"17\"},\"ref\":1}",
                "{\"transfer\":{\"from\":\"out/18\",\"method\":\"POST\",\"url\":\"http://h/18\","
                    + "\"session\":\"photos\",\"id\":\"18\"},\"ref\":2}",
                "{\"cancel\":{\"transfer\":\"photos/17\"}}",
            ])
    }

    @Test("the answer says what became of the order, and how long it waits at least")
    func answers() throws {
        var answer: ScheduleAnswer?
        fed.session.transferSession(withIdentifier: "photos").downloadTask("17", from: "http://h/", to: "17").resume {
            answer = try? $0.get()
        }
        fed.feed(
            notice(
                "reply",
                "{\"transfer\":\"ordered\",\"starts_in_ms\":60000,\"pending\":[{\"source\":\"transfer\",\"id\":\"photos/17\","
                    + "\"state\":\"waiting\",\"waits_for\":[\"time\"],\"done\":7,\"total\":9}],\"ref\":1}"))
        #expect(answer?.outcome == .ordered && answer?.startsIn == .seconds(60))
        #expect(answer?.pending.first?.bytesDone == 7 && answer?.pending.first?.bytesTotal == 9)
    }

    @Test("the tasks of an earlier process are those of the session alone, and one is resumed by its name")
    func reattaches() async throws {
        let photos = fed.session.transferSession(withIdentifier: "photos")
        let all = Task { try await photos.allTasks() }
        await fed.settle()
        let entries = ["photos/9", "maps/1"].map {
            "{\"source\":\"transfer\",\"id\":\"\($0)\",\"state\":\"waiting\",\"waits_for\":[\"paused\"]}"
        }
        fed.feed(notice("reply", "{\"pending\":[\(entries.joined(separator: ","))],\"ref\":1}"))
        let tasks = try await all.value
        #expect(tasks.map(\.identifier) == ["9"])
        _ = try lines()
        tasks.first?.resume { _ in }
        #expect(try lines() == ["{\"resume\":\"photos/9\",\"ref\":2}"])
    }

    @Test("the delegate is called for each end, for challenges, and last when nothing is open")
    func delegates() throws {
        _ = fed.session.transferSession(withIdentifier: "photos", delegate: album)
        fed.feed(
            finished(1, "17", "\"method\":\"GET\",\"ok\":true,\"received\":9"),
            finished(2, "18", "\"method\":\"PUT\",\"ok\":true,\"sent\":9"),
            finished(3, "20", "\"method\":\"GET\",\"ok\":false,\"why\":\"checksum\""),
            challenge(4, "19"), challenge(5, "21"),
            occasion(
                6, "transfer.settled", of: "photos", "{\"session\":\"photos\",\"finished\":2,\"failed\":1}"))
        #expect(album.calls == ["17 lies at 17.jpg", "17 whole", "18 whole", "20 checksum", "photos 2 1"])
        let written = try lines()
        #expect(written.filter { $0.contains("ack") }.last?.contains("\"ack\":5") == true)
        #expect(
            written.filter { !$0.contains("ack") } == [
                "{\"credential\":{\"transfer\":\"photos/19\",\"user\":\"me\",\"password\":\"word\"}}",
                "{\"cancel\":{\"transfer\":\"photos/21\"}}",
            ])
        for completion in album.completions { completion() }
        #expect(try lines().last?.contains("\"ack\":6") == true)
    }

    @Test("what becomes of a session without a delegate is an event of the loop, with its words as values")
    func events() async throws {
        let recording = Recording(occasions: [
            .download("17", in: "maps", to: "17.map", failure: .insecureRedirect),
            .settled("maps", finished: 0, failed: 1),
        ])
        var changes: [TransferChange] = []
        let answers = try await recording.play { session in
            for await event in session.events {
                if case .transfer(let change) = event.kind { changes.append(change) }
                session.finish(event, .useful)
            }
        }
        guard case .finished(let end)? = changes.first else { return #expect(Bool(false), "\(changes)") }
        #expect(end.failure == .insecureRedirect && end.isDownload && end.path == "17.map")
        #expect(changes.last == .settled(session: "maps", finished: 0, failed: 1) && answers.unanswered.isEmpty)
    }

    @Test("in its tests a handler's tasks are answered as the daemon answers them")
    func played() async throws {
        let answers = try await Recording(occasions: [.task("look", kind: .refresh)]).play { session in
            let photos = session.transferSession(withIdentifier: "photos")
            for await event in session.events {
                let first = try await photos.downloadTask("17", from: "http://h/", to: "17").resume()
                let second = try await photos.downloadTask("17", from: "http://h/", to: "17").resume()
                #expect(first.outcome == .ordered && second.outcome == .alreadyOrdered)
                try await photos.cancelAllTasks()
                #expect(try await photos.allTasks().isEmpty)
                session.finish(event, .useful)
            }
        }
        #expect(answers.orders.map(\.verb) == ["transfer", "transfer", "pending", "cancel", "pending"])
    }
}
