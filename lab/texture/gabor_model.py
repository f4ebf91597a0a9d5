"""The texture analysis in NumPy, by the plain definition of a convolution: slow, and short enough to be believed.

The tests compare the program with it. The formula of the kernel, and its source, are in gabor.hpp.
"""

from __future__ import annotations

import math

import numpy as np


def sigma_of(wavelength: float) -> float:
    """Returns σ in pixels, for a bandwidth of one octave."""
    return 3 / math.pi * math.sqrt(math.log(2) / 2) * wavelength


def kernel(wavelength: float, angle: float) -> np.ndarray:
    """Returns the kernel, complex128 of shape (2r + 1, 2r + 1) with r = ⌈3σ⌉; `wavelength` in pixels, `angle` in
    radians."""
    sigma = sigma_of(wavelength)
    radius = math.ceil(3 * sigma)
    y, x = np.mgrid[-radius:radius + 1, -radius:radius + 1]
    weight = np.exp(-(x**2 + y**2) / (2 * sigma**2))
    weight /= weight.sum()
    wave = np.exp(2j * np.pi * (x * math.cos(angle) + y * math.sin(angle)) / wavelength)
    return weight * (wave - (weight * wave).sum())


def bank(scales: int = 3, orientations: int = 4, wavelength: float = 4.0) -> list[tuple[float, float]]:
    """Returns wavelength and angle of each filter, in the program's order."""
    angles = [math.pi * k / orientations for k in range(orientations)]
    return [(wavelength * 2**scale, angle) for scale in range(scales) for angle in angles]


def texture(plane: np.ndarray, wavelength: float, angle: float) -> np.ndarray:
    """Returns |plane ∗ kernel|, float64 of the plane's shape (rows, columns), which is mirrored at its edges."""
    values = kernel(wavelength, angle)
    radius = len(values) // 2
    rows, columns = plane.shape
    padded = np.pad(plane.astype(np.float64), radius, mode="symmetric")
    result = np.zeros(plane.shape, np.complex128)
    for i, j in np.ndindex(values.shape):
        result += values[i, j] * padded[2 * radius - i:2 * radius - i + rows, 2 * radius - j:2 * radius - j + columns]
    return np.abs(result)
