"""Particles that move between the clients of a node: `particles.py`. Arrays have another length in each iteration.

Four processes have a quarter of a ring each, and the particles in it; at the beginning the last one has none. A
particle that flies into another quarter is handed to its process. In each iteration every client sets how many
particles it has now (`n`), how many there are (`total`), and how many belong to the clients before it (`first`).
"""

import multiprocessing

import numpy as np
import tailrace

CLIENTS = 4
PARTICLES = 300  # of each client except the last, at the beginning
STEPS = 6


def move(particles, mailboxes, client, barrier):
    """Moves the particles by one step, and returns those that are in this quarter then."""
    particles["position"] = (particles["position"] + particles["velocity"]) % 1.0
    owner = (particles["position"] * CLIENTS).astype(int)
    for other, mailbox in enumerate(mailboxes):
        mailbox.put(particles[owner == other])
    here = np.concatenate([mailboxes[client].get() for _ in range(CLIENTS)])
    barrier.wait()  # no process begins the next step before all have their mail
    return here


def run(client, mailboxes, counts, barrier):
    kinds = [("position", float), ("velocity", float), ("identity", int)]
    count = PARTICLES if client < CLIENTS - 1 else 0
    random = np.random.default_rng(client)
    particles = np.zeros(count, kinds)
    particles["position"] = (client + random.random(count)) / CLIENTS
    particles["velocity"] = random.normal(0, 0.1, count)
    particles["identity"] = client * PARTICLES + np.arange(count)
    with tailrace.open("particles.yaml", client) as out:
        for step in range(STEPS):
            counts[client] = len(particles)
            barrier.wait()
            of_all = list(counts)
            out.set_parameters(n=len(particles), first=sum(of_all[:client]), total=sum(of_all))
            out.enable("velocity", step % 2 == 0)              # only in every other iteration
            for name in ("position", "velocity", "identity"):
                out.write(name, step, np.ascontiguousarray(particles[name]))
            out.end_iteration(step)
            particles = move(particles, mailboxes, client, barrier)


if __name__ == "__main__":
    # "spawn": a forked process would have no threads; libraries that had some may not work in it.
    context = multiprocessing.get_context("spawn")
    mailboxes = [context.Queue() for _ in range(CLIENTS)]
    counts = context.Array("q", CLIENTS)
    barrier = context.Barrier(CLIENTS)
    clients = [context.Process(target=run, args=(client, mailboxes, counts, barrier)) for client in range(CLIENTS)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    raise SystemExit(any(client.exitcode for client in clients))
