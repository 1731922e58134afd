// The edge to Eclipse Paho C: the only file that uses its pointers; bytes are copied out at once.
import CPaho
import Glibc
import WakeModel
import WakeSystem

/// A client of Paho with its own thread. Never blocks, but for its end, which takes two seconds at most.
struct PahoClient: ~Copyable {
    private let handle: OpaquePointer

    init(_ options: MQTTOptions) throws(SystemError) {
        let made = Self.withTexts(of: options) { wake_mqtt_make($0) }
        guard let made else { throw SystemError("begin", "a connection to \(options.broker.text)", Errno.last) }
        handle = made
    }

    deinit { wake_mqtt_end(handle) }

    var descriptor: Int32 { wake_mqtt_descriptor(handle) }

    func connect() { _ = wake_mqtt_connect(handle) }
    func subscribe(_ filter: String, _ quality: MQTTMessage.Quality) {
        _ = wake_mqtt_subscribe(handle, filter, quality.rawValue)
    }

    func unsubscribe(_ filter: String) { _ = wake_mqtt_unsubscribe(handle, filter) }

    func publish(_ message: MQTTMessage, tag: UInt64) {
        message.payload.withUnsafeBytes { bytes in
            _ = wake_mqtt_publish(
                handle, message.topic, bytes.baseAddress, bytes.count, message.quality.rawValue, message.isRetained, tag
            )
        }
    }

    func acknowledge(_ ticket: UInt64) { wake_mqtt_acknowledge(handle, ticket) }
    func refuse(_ ticket: UInt64) -> Bool { wake_mqtt_refuse(handle, ticket) }

    func nextEvent(from broker: BrokerAddress) -> MQTTEvent? {
        while let event = wake_mqtt_next(handle) {
            defer { wake_mqtt_release(event) }
            if let read = Self.event(event.pointee, broker) { return read }
        }
        return nil
    }

    /// Nil for a message whose topic is no text.
    private static func event(_ event: wake_mqtt_event, _ broker: BrokerAddress) -> MQTTEvent? {
        let text = String(cString: event.text)
        switch event.what {
        case WAKE_MQTT_CONNECTED: return .connected(isSessionPresent: event.is_session_present)
        case WAKE_MQTT_ABSENT: return .disconnected(.absent(text))
        case WAKE_MQTT_REFUSED: return .disconnected(MQTTFault(connectingTo: broker, code: event.code, reason: text))
        case WAKE_MQTT_LOST: return .disconnected(.lost(broker, text))
        case WAKE_MQTT_DELIVERED: return .delivered(event.number)
        case WAKE_MQTT_NOT_SUBSCRIBED: return .notSubscribed(filter: text)
        case WAKE_MQTT_UNSUBSCRIBED: return .unsubscribed(filter: text)
        default:
            let message = MQTTMessage(
                text, Array(UnsafeBufferPointer(start: event.bytes, count: event.count)),
                quality: event.quality == 0 ? .atMostOnce : .atLeastOnce, isRetained: event.is_retained)
            return .arrived(
                ArrivedMessage(
                    message: message, isDuplicate: event.is_duplicate, ticket: event.number, isCut: event.is_cut))
        }
    }

    /// Copies of all texts, which C copies again: strings live only as long as a call.
    private static func withTexts(
        of options: MQTTOptions, _ body: (UnsafePointer<wake_mqtt_options>) -> OpaquePointer?
    ) -> OpaquePointer? {
        let texts: [String?] = [
            options.broker.libraryText, options.clientIdentifier, options.user, options.password,
            options.certificateAuthority, options.certificate, options.key, options.will?.topic,
            options.will.map { String(decoding: $0.payload, as: UTF8.self) },
        ]
        let copies = texts.map { $0.map { strdup($0) } ?? nil }
        defer { for copy in copies { free(copy) } }
        var given = wake_mqtt_options()
        given.address = UnsafePointer(copies[0])
        given.client_identifier = UnsafePointer(copies[1])
        given.user = UnsafePointer(copies[2])
        given.password = UnsafePointer(copies[3])
        given.authority = UnsafePointer(copies[4])
        given.certificate = UnsafePointer(copies[5])
        given.key = UnsafePointer(copies[6])
        given.will_topic = UnsafePointer(copies[7])
        given.will_text = UnsafePointer(copies[8])
        given.keep_alive_seconds = Int32(max(1, options.keepAlive.wholeMilliseconds / 1000))
        given.longest_message = options.longestMessage
        given.keeps_session = options.keepsSession
        return body(&given)
    }
}

extension MQTTFault {
    /// The reason why this process cannot load the library; nil where it can.
    public static var ofLibrary: MQTTFault? { wake_mqtt_fault_of_library().map { .absent(String(cString: $0)) } }
}
