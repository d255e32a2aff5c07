#include "report/document/bars.hpp"

#include <algorithm>
#include <cmath>

namespace npuscope::report {
namespace {

constexpr double eighths = 8;

// Of a share of `whole` eighths, at least one of what is there.
std::size_t eighths_of(double share, double whole) {
  if (!(share > 0)) return 0;
  return std::size_t(std::clamp(std::round(share * whole), 1.0, whole));
}

}  // namespace

std::string bar_text(double share, std::size_t width) {
  constexpr const char* ends[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const std::size_t filled = eighths_of(share, double(width) * eighths);
  std::string bar;
  for (std::size_t column = 0; column < filled / 8; ++column) bar += "█";
  return bar + ends[filled % 8];
}

std::string strip_text(const std::vector<double>& shares) {
  constexpr const char* heights[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string strip;
  for (const double share : shares) strip += heights[eighths_of(share, eighths)];
  return strip;
}

}  // namespace npuscope::report
