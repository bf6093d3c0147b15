// Special functions of the standard library, compiled once here: as templates in the headers they would take a
// quarter of the time to compile a submission.
#include <cmath>

extern "C" double hipcpu_cyl_bessel_i(double order, double x) { return std::cyl_bessel_i(order, x); }
