"""A simulation that writes its field after each step, by h5py: it knows nothing of tailrace.

    tailrace run -- python simulation_h5py.py field.h5
"""

import sys

import h5py
import numpy as np

SHAPE = (32, 128, 128)

with h5py.File(sys.argv[1] if len(sys.argv) > 1 else "field.h5", "w") as file:
    for step in range(4):
        temperature = 1000.0 * step + np.arange(np.prod(SHAPE)).reshape(SHAPE)
        group = file.create_group(f"step{step}")
        group.attrs["time"] = 0.1 * step
        group.create_dataset("temperature", data=temperature)
        if step % 2 == 1:
            file.flush()                                   # from here on safe, whatever happens to us
