// Reads the records of a capture, one after the other, into the follower of their kind.

/// A file of records. The follower gets each as it is read; no part of the file is kept.
protocol CaptureReader {
    /// The next record; false at the end.
    mutating func readNext(into follower: inout CaptureFollower) throws(ImportError) -> Bool
}

extension CaptureReader {
    /// All of it. With `partial`, the part before a fault, which the draft then holds.
    mutating func readAll(into follower: inout CaptureFollower, partial: Bool) throws(ImportError) {
        do {
            while try readNext(into: &follower) { follower.draft.counts.records += 1 }
        } catch {
            guard partial else { throw error }
            follower.draft.cut = error
        }
    }
}

/// Why a record cannot be read.
enum RecordFault {
    /// Far above any packet; a longer length is no record.
    static let recordLimit = 1 << 20

    static func cut(_ what: String, at offset: Int) -> ImportError {
        ImportError(offset: offset, reason: "the file was cut inside \(what)", isCut: true)
    }

    static func tooLong(_ length: Int, at offset: Int) -> ImportError {
        ImportError(offset: offset, reason: "the record there claims \(length) bytes, more than any packet has")
    }
}
