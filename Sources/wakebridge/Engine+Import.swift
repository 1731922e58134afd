// Where the verb meets the engine.

func importCapture(_ options: ImportOptions) -> Int32 {
    Console.say("failed: this build has no engine behind 'importCapture' yet")
    return 1
}
