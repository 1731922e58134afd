# Runs a program on a terminal of its own and answers it: terminal.py '[["prompt", "answer"], …]' SECONDS PROGRAM WORD…
# Each answer takes so many seconds to think of, and what the program writes meanwhile is read.
import json
import os
import pty
import select
import sys
import time

answers = json.loads(sys.argv[1])
process, terminal = pty.fork()
if process == 0:
    os.environ["TERM"] = "xterm"
    os.execvp(sys.argv[3], sys.argv[3:])
seen, place, due = "", 0, None
while True:
    if due is None and answers and answers[0][0] in seen[place:]:
        place = seen.index(answers[0][0], place) + len(answers[0][0])
        due = time.monotonic() + float(sys.argv[2])
    if select.select([terminal], [], [], None if due is None else max(0, due - time.monotonic()))[0]:
        try:
            chunk = os.read(terminal, 4096)
        except OSError:
            break
        if not chunk:
            break
        seen += chunk.decode(errors="replace")
    elif due is not None:
        os.write(terminal, answers.pop(0)[1].encode())
        due = None
sys.stdout.write(seen)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
