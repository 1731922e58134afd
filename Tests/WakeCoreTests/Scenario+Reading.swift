// What a story says of its outcome: states, deliveries, notices and decisions, read back from the log of effects.
import Testing
import WakeModel

@testable import WakeCore

extension Scenario {
    func handlerStatus(_ id: HandlerID) -> HandlerStatus? { core.handlerStatus(of: id, at: now) }
    func state(_ id: HandlerID) -> HandlerState? { handlerStatus(id)?.state }

    func deliveries(_ id: HandlerID) -> [Delivery] {
        log.compactMap { if case .deliver(id, _, let delivery) = $0.effect { delivery } else { nil } }
    }
    /// Every number written to the handler, in order, as often as it was.
    func delivered(_ id: HandlerID) -> [UInt64] { deliveries(id).flatMap(\.events).map(\.sequence.rawValue) }
    func attempts(_ id: HandlerID) -> [UInt32] { deliveries(id).flatMap(\.events).map(\.attempt) }

    func decisions(_ id: HandlerID) -> [String] {
        log.compactMap { if case .decision(id, let decision) = $0.effect { decision.wireName } else { nil } }
    }
    /// `active -> expiring budget`, in order.
    func moves(_ id: HandlerID) -> [String] { decisions(id).filter { $0.contains(" -> ") } }
    func has(_ id: HandlerID, _ move: String) -> Bool { moves(id).contains(move) }
    func struck(_ id: HandlerID) -> Int { decisions(id).count { $0.hasPrefix("strike") } }
    func held(_ id: HandlerID) -> Int { decisions(id).count { $0.hasPrefix("held") } }

    func notices(_ id: HandlerID) -> [Notice] {
        log.compactMap { if case .notify(id, _, let notice) = $0.effect { notice } else { nil } }
    }
    func faults(_ id: HandlerID) -> [ProtocolFault.Code] {
        notices(id).compactMap { if case .error(let fault) = $0 { fault.code } else { nil } }
    }
    func expirations(_ id: HandlerID) -> [String] {
        notices(id).compactMap { if case .expiring(let reason, _, _, _) = $0 { reason } else { nil } }
    }
    func gaps(_ id: HandlerID) -> [Gap] {
        (auditor.books[id]?.gaps ?? [:]).sorted { $0.key < $1.key }.map(\.value.gap)
    }
    /// Instants of the moves into or out of a state, since the story began.
    func instants(_ id: HandlerID, _ move: String) -> [TimeSpan] {
        log.compactMap { at, effect in
            guard case .decision(id, let decision) = effect, decision.wireName == move else { return nil }
            return at.monotonic - Instant(nanoseconds: 1_000_000_000_000)
        }
    }
    func count(where fits: (Effect) -> Bool) -> Int { log.count { fits($0.effect) } }
    func kills(_ id: HandlerID) -> Int { count { if case .kill(id, _) = $0 { true } else { false } } }
    func launches(_ id: HandlerID) -> Int { count { if case .launch(id, _, _) = $0 { true } else { false } } }

    /// The books must balance at the end of every story.
    func close(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(auditor.complaints.isEmpty, sourceLocation: sourceLocation)
    }
}
