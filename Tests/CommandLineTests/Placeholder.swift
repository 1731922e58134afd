// Tests of the tool as people run it.
import Testing
