"""A simulation that is killed in the middle of its output, and continued: `crash.py kill`, then `crash.py`.

Every file that has its name is complete, whatever happens to the program.
"""

import os
import signal
import sys

import numpy as np
import tailrace

tailrace.recover("out")                                            # finishes or removes what a crash has left
state = np.zeros(1000)

with tailrace.open(name="sim", variables={"state": state}, path="out", existing="continue") as out:
    last = out.last_iteration()
    if last is not None:
        state = out.read("state", last)
    print("continues after iteration", last, flush=True)
    for step in range(0 if last is None else last + 1, 6):
        state += 1
        out.write("state", step, state)
        if step == 3 and "kill" in sys.argv:
            out.flush()                                            # iterations 0 to 2 are complete now, 3 is not
            os.kill(os.getpid(), signal.SIGKILL)
        out.end_iteration(step)

print("the end:", state[0])
