"""A storm moves over a map. Code of the user follows it in the server, while the program computes the next step.

The results of the action (track.py) are attributes of each iteration's file.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import tailrace

y, x = np.mgrid[0:80, 0:120]

with tailrace.open("storm.yaml") as out:
    for step in range(12):
        eye_x, eye_y = 10 + 9 * step, 60 - 4 * step + 12 * np.sin(step / 2)
        depth = 60 * np.exp(-((x - eye_x) ** 2 + (y - eye_y) ** 2) / 400)
        out.write("pressure", step, 1013 - depth)
        out.end_iteration(step)

data = tailrace.read("out")
found = {key: data[f"tailraceAction_locate_{key}"].values for key in ("x", "y", "lowest")}
print(f"the storm went from {found['x'][0]:g}, {found['y'][0]:g} to {found['x'][-1]:g}, {found['y'][-1]:g}")

figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
image = axes.pcolormesh(data.x, data.y, data.pressure.isel(time=6), cmap="Blues_r")
axes.plot(found["x"], found["y"], "o-", color="tab:red", label="found by the action")
axes.set(xlabel="x", ylabel="y")
axes.legend()
figure.colorbar(image, label="pressure in step 6, hPa")
figure.savefig("storm.png", dpi=80)
