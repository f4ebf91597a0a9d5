"""A plate cools down, and the program draws what it has written.

tailrace writes while the loop computes. `tailrace.read` opens the files as an xarray Dataset along time.
"""

import matplotlib

matplotlib.use("Agg")
import numpy as np
import tailrace

temperature = np.full((96, 128), 290.0)
temperature[30:60, 20:50] = temperature[20:40, 80:110] = 400.0     # two hot places
declared = tailrace.Variable.like(temperature, unit="K", axes=["y", "x"], spacing=[0.01, 0.01], grid_unit="m")

with tailrace.open(name="heat", variables={"temperature": declared}, path="out", existing="replace", dt=0.5) as out:
    for step in range(41):
        out.write("temperature", step, temperature)                # a copy: the array may change at once
        out.end_iteration(step)
        for _ in range(20):
            temperature[1:-1, 1:-1] += 0.2 * (temperature[:-2, 1:-1] + temperature[2:, 1:-1] + temperature[1:-1, :-2]
                                              + temperature[1:-1, 2:] - 4 * temperature[1:-1, 1:-1])

data = tailrace.read("out")
print("mean temperature at the end:", round(float(data.temperature.isel(time=-1).mean()), 1), "K")
grid = data.temperature.isel(time=[0, 10, 40]).plot(col="time", cmap="inferno", figsize=(9, 2.8))
grid.fig.savefig("heat.png", dpi=80)
