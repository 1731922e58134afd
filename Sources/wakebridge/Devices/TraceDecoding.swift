// A trace decoded with one profile: each value, or why the profile does not fit it, and their sum.
import WakeArguments
import WakeModel
import WakeProfiles
import WakeSystem
import WakeTrace

struct TraceDecoding {
    private enum Outcome {
        case value(String)
        /// The profile decodes nothing of this channel.
        case raw
        case misfit(String)
    }

    private struct Row {
        let line: Int
        let channel: String
        let bytes: [UInt8]
        let outcome: Outcome
    }

    private var rows: [Row] = []

    init(of trace: String, by decoder: ProfileDecoder) throws(Complaint) {
        do {
            let chunks = try FileChunks(trace)
            var reader = TraceReader(supplyingChunks: chunks.next)
            var memories: [Int: DeviceMemory] = [:]
            while let operation = try reader.next() {
                guard case .device(let device, .data(let channel, let bytes)) = operation.subject else { continue }
                let heard = decoder.hear(
                    bytes, from: channel, of: .init(), at: .zero + operation.offset,
                    after: &memories[device, default: .init()])
                rows.append(
                    Row(
                        line: operation.line, channel: channel.wireName.text, bytes: bytes,
                        outcome: Self.outcome(of: bytes, channel, heard, decoder)))
            }
            if let failure = chunks.failure { throw failure }
        } catch {
            throw .failure("cannot decode \(trace): \(error)")
        }
    }

    private static func outcome(
        of bytes: [UInt8], _ channel: Channel, _ heard: HeardValue, _ decoder: ProfileDecoder
    ) -> Outcome {
        var writer = JSONWriter()
        do throws(DecodeFault) {
            guard try decoder.decode(bytes, from: channel, heard: heard, into: &writer) else { return .raw }
            return .value(String(decoding: writer.bytes, as: UTF8.self))
        } catch { return .misfit(error.description) }
    }

    /// How many values do not fit the profile.
    var misfits: Int { rows.count { if case .misfit = $0.outcome { true } else { false } } }
    private var decoded: Int { rows.count { if case .value = $0.outcome { true } else { false } } }

    var text: String {
        let lines = rows.map { row in
            let start = "line \(row.line): \(row.channel) "
            return switch row.outcome {
            case .value(let json): start + json
            case .raw: start + "\(row.bytes.hexadecimal): the profile decodes nothing of it"
            case .misfit(let reason): start + "\(row.bytes.hexadecimal): \(reason)"
            }
        }
        let sum =
            "\(rows.count.counted("value")): \(decoded) decoded, \(rows.count - decoded - misfits) left raw, "
            + "\(misfits) that \(misfits == 1 ? "does" : "do") not fit"
        return (lines + [sum]).map { $0.printable + "\n" }.joined()
    }

    func write(to writer: inout JSONWriter) {
        writer.objects("values", rows) { writer, row in
            writer.field("line", row.line)
            writer.field("channel", row.channel)
            writer.field("raw", row.bytes.hexadecimal)
            switch row.outcome {
            case .value(let json):
                writer.key("value")
                writer.value((try? JSONValue(parsing: Array(json.utf8))) ?? .null)
            case .raw: break
            case .misfit(let reason): writer.field("undecodable", reason)
            }
        }
        writer.field("decoded", decoded)
        writer.field("undecodable", misfits)
    }
}
