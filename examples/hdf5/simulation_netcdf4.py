"""A simulation that writes its field after each step, by netCDF4: it knows nothing of tailrace.

    tailrace run -- python simulation_netcdf4.py field.nc
"""

import sys

import netCDF4
import numpy as np

SHAPE = (32, 128, 128)

with netCDF4.Dataset(sys.argv[1] if len(sys.argv) > 1 else "field.nc", "w") as file:
    for name, length in zip(("time", "x", "y", "z"), (4, *SHAPE)):
        file.createDimension(name, length)
    time = file.createVariable("time", "f8", ("time",))
    field = file.createVariable("temperature", "f8", ("time", "x", "y", "z"))
    field.units = "K"
    for step in range(4):
        time[step] = 0.1 * step
        field[step] = 1000.0 * step + np.arange(np.prod(SHAPE)).reshape(SHAPE)
        if step % 2 == 1:
            file.sync()                                    # from here on safe, whatever happens to us
