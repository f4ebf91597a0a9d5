"""The example of the README in Python as several clients of a node, each a process: `clients.py --clients 4`.

The configuration, not the program, makes a server process write the blocks (place core): only the clients' numbers
show it here.
"""

import argparse
import multiprocessing

import numpy as np
import tailrace


def run(client):
    with tailrace.open("sim.yaml", client) as out:
        for step in range(3):
            solution = 10000.0 * client + 1000.0 * step + np.arange(48 * 64).reshape(48, 64)
            out.write("temperature", step, solution)           # one copy; `solution` is ours again
            pressure = out.alloc("pressure", step)             # memory shared with the server: no copy
            pressure[:] = 2 * solution
            out.commit("pressure", step)
            density = 3 * solution
            ticket = out.borrow("density", step, density)      # copied: the server cannot see it
            out.end_iteration(step)
            ticket.wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--client", type=int, help="be this one alone, started by something else")
    arguments = parser.parse_args()
    if arguments.client is not None:
        run(arguments.client)
    else:
        # "spawn": a forked process would have no threads; libraries that had some may not work in it.
        with multiprocessing.get_context("spawn").Pool(arguments.clients) as pool:
            pool.map(run, range(arguments.clients))
