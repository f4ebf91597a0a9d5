"""The example of the README in Python: three steps, and one way to hand a block over for each variable."""

import numpy as np
import tailrace

with tailrace.open("sim.yaml") as out:
    for step in range(3):
        solution = 1000.0 * step + np.arange(48 * 64).reshape(48, 64)
        out.write("temperature", step, solution)           # one copy; `solution` is ours again
        pressure = out.alloc("pressure", step)             # tailrace's memory: no copy
        pressure[:] = 2 * solution
        out.commit("pressure", step)
        density = 3 * solution
        ticket = out.borrow("density", step, density)      # our memory, at any address: leave it alone until …
        out.end_iteration(step)
        ticket.wait()                                      # … here
