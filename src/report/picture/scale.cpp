#include "report/picture/scale.hpp"

#include <algorithm>
#include <cmath>

namespace npuscope::report {
namespace {

constexpr double rounding = 1e-9, nearly = 1 - rounding;

}  // namespace

double Scale::at(double value) const {
  const auto place = [&](double of) { return logarithmic ? std::log10(of) : of; };
  if (!(high > low)) return first;
  const double inside = std::clamp(value, low, high);
  return first + (last - first) * (place(inside) - place(low)) / (place(high) - place(low));
}

Scale log_scale(double low, double high, double first, double last) {
  constexpr double least = 1e-300, most = 1e300;
  low = std::clamp(low, least, most);
  high = std::clamp(high, low, most);
  const double begin = std::floor(std::log10(low)), end = std::ceil(std::log10(high));
  return {std::pow(10, begin), std::pow(10, std::max(end, begin + 1)), first, last, true};
}

double round_step(double min) {
  const double power = std::pow(10, std::floor(std::log10(min)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= min * nearly) return factor * power;
  }
  return 10 * power;
}

std::vector<double> round_marks(double low, double high, std::size_t max) {
  if (!(high > low) || max < 2) return {};
  const double step = round_step((high - low) / double(max - 1));
  std::vector<double> marks;
  const double last = std::floor(high / step + rounding);
  for (double number = std::ceil(low / step - rounding); number <= last; ++number) {
    marks.push_back(number * step);
  }
  return marks;
}

std::vector<double> log_marks(double low, double high) {
  if (!(low > 0) || !(high >= low)) return {};
  const double begin = std::ceil(std::log10(low * nearly)),
               end = std::floor(std::log10(high / nearly));
  std::vector<double> marks;
  for (double power = begin - 1; power <= end; ++power) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * std::pow(10, power);
      const bool is_shown = factor == 1.0 || end - begin < 3;
      if (is_shown && value >= low * nearly && value <= high / nearly) marks.push_back(value);
    }
  }
  return marks;
}

}  // namespace npuscope::report
