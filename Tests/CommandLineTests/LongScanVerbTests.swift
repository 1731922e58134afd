// Scans with the patience of twenty seconds that an adapter is given.
import TestBench
import Testing

@Suite("Patient scans", .serialized, .tags(.fullScale))
struct LongScanVerbTests {
    @Test("a scan of accessories ends in its time, though the adapter never scans")
    func ends() throws {
        let bluetooth = try ScriptedBluetooth(#"{"adapters": [{"busy": 99}]}"#)
        let prepared = "mount -t tmpfs tmpfs /run && mkdir /run/udev && touch /run/udev/control && exec \"$@\""
        let outcome = try bluetooth.tool(
            ["scan", "--for", "1s"], below: ["timeout", "60", "unshare", "--mount", "sh", "-c", prepared, "sh"])
        #expect(outcome.exit == 0 && outcome.talk.contains("no Bluetooth: adapter 00:1A:7D:DA:71:13"), "\(outcome)")
    }

    @Test("a scan that is refused at first is tried again for 20 s; one that stays refused is told with what to do")
    func busy() throws {
        let patient = try ScriptedBluetooth(
            #"{"adapters": [{"busy": 1}], "devices": [{"address": "C0:DE:00:00:00:10", "uuids": ["180d"]}]}"#)
        let outcome = try patient.tool(ScanVerbTests.scan + ["--for", "2s"])
        #expect(outcome.exit == 0 && outcome.talk.isEmpty, "\(outcome.talk)")
        #expect(outcome.output == "C0:DE:00:00:00:10  C0:DE:00:00:00:10  -60 dBm  heart-rate-monitor  new\n")
        let lost = try ScriptedBluetooth(#"{"adapters": [{"loses": true}], "devices": []}"#)
        #expect(try lost.tool(ScanVerbTests.scan + ["--for", "2s"]).exit == 0)
        #expect(lost.calls.filter { $0 == "StartDiscovery" }.count == 2)
        let busy = try ScriptedBluetooth(#"{"adapters": [{"busy": 99}]}"#)
        let refused = try busy.tool(ScanVerbTests.scan)
        #expect(refused.exit == 1)
        #expect(
            refused.talk.contains(
                "wakebridge scan: adapter 00:1A:7D:DA:71:13 does not scan: Operation already in progress"))
        // Seven waits add up to 19.5 s, and the tries between them to less than the rest.
        #expect((7...8).contains(busy.calls.filter { $0 == "StartDiscovery" }.count))
    }

    @Test("a scan that ended by no doing of ours is begun again, and one that only is announced late is not")
    func ended() throws {
        func starts(_ adapter: String, within time: String) throws -> Int {
            let bluetooth = try ScriptedBluetooth("{\"adapters\": [{\(adapter)}]}")
            let outcome = try bluetooth.tool(ScanVerbTests.scan + ["--for", time])
            #expect(outcome.exit == 0, "\(outcome.talk)")
            return bluetooth.calls.filter { $0 == "StartDiscovery" }.count
        }
        let (ends, off, on) = ("{\"Discovering\": false}", "{\"Powered\": false}", "{\"Powered\": true}")
        #expect(try starts("\"then\": [[200, \(ends)]]", within: "4s") == 2)
        #expect(try starts("\"then\": [[200, \(ends)], [200, \(off)], [1500, \(on)]]", within: "5s") == 2)
        // The time of the scan begins with the second: the first was none.
        #expect(try starts("\"hollow\": 1", within: "500ms") == 2)
        #expect(try starts("\"announces\": 11000", within: "12s") == 1)
    }
}
