"""The action of storm.yaml: it runs in the server after each iteration, on the data in memory."""

import numpy as np


def locate(event, iteration, blocks):
    """Finds the storm: where the pressure is lowest, and how low it is there."""
    pressure = blocks["pressure"][-1].data
    y, x = np.unravel_index(np.argmin(pressure), pressure.shape)
    return {"x": int(x), "y": int(y), "lowest": float(pressure[y, x])}
