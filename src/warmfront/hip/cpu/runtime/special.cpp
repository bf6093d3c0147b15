// Mathematical functions that are used too rarely for the header, and that not every C++ library has.
#include <cmath>

// The power series. All its terms are positive, so there is no cancellation.
extern "C" double hipcpu_cyl_bessel_i(double order, double x) {
  constexpr double kOverflows = 720, kNegligible = 1e-18;
  if (std::isnan(x) || x > kOverflows) return x + HUGE_VAL;
  double term = std::pow(x / 2, order) / std::tgamma(order + 1);
  double sum = term;
  for (double k = 1; term > sum * kNegligible; ++k) {
    term *= x / 2 / k * (x / 2 / (k + order));
    sum += term;
  }
  return sum;
}
