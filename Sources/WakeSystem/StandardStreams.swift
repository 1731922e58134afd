// Standard input, output and error: the process that started us may have closed them.
import Glibc

public enum StandardStreams {
    /// Opens something at the number of each that is closed. The next socket would get that number, and what is printed would
    /// go into it. A closed stream stays one that can be neither read nor written, so that the loss is told.
    public static func occupyClosed() {
        for number in [0, 1, 2] as [Int32] where fcntl(number, F_GETFD) < 0 {
            // The lowest free number is given.
            _ = open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY)
        }
    }
}
