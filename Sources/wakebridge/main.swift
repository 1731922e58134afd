print("wakebridge")
