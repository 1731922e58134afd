// What one handler process has to say to the stage that started it.
import WakeCore
import WakeModel
import WakeSystem

/// What a process tells its stage; each becomes one input of the core.
protocol ProcessObserver: AnyObject {
    func process(_ process: HandlerProcess, said line: Result<ArraySlice<UInt8>, ProtocolFault>)
    func process(_ process: HandlerProcess, wroteDeliveryThrough last: Sequence)
    func processDoesNotRead(_ process: HandlerProcess)
    func process(_ process: HandlerProcess, ordered order: ServiceMessage.Order)
    func process(_ process: HandlerProcess, becameThrottled isThrottled: Bool)
    func process(_ process: HandlerProcess, couldNotStart reason: SystemError)
    func process(_ process: HandlerProcess, logged line: String, to stream: HandlerProcess.Stream)
    func processFroze(_ process: HandlerProcess)
    func process(_ process: HandlerProcess, exited status: ExitStatus, refused: LeafRefusals)
    func processLeftNobody(_ process: HandlerProcess)
}
