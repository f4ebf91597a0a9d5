// Okada's closed expressions for the motion of the ground when a rectangular fault slips.
//
// Y. Okada, "Surface deformation due to shear and tensile faults in a half-space", Bulletin of the Seismological
// Society of America 75(4), 1985, 1135-1154: equations (25) to (30), for a Poisson solid (lambda = mu). Pure
// functions of one surface point; source.hpp places the fault on the map.
#pragma once

namespace tsunami {

// A fault in Okada's own coordinates (his figure 1): x along strike, y to the left of it, the deeper edge from (0, 0,
// -depth) to (length, 0, -depth). All lengths have one unit, which is also that of the displacement.
struct OkadaFault {
  double length, width;
  double depth;  // of the deeper edge
  double dip;    // radians
  double strike_slip, dip_slip;
};

struct Displacement {
  double x, y, z;
};

// Returns the displacement of the surface point (x, y).
Displacement okada(const OkadaFault& fault, double x, double y);

}  // namespace tsunami
