#include "npu/nsp/simulate/device/set_up.hpp"

#include <algorithm>
#include <numeric>

namespace npuscope::npu::nsp {

double seconds_of_hoisting(const qaic::Program& program, const Target& target) {
  const std::uint32_t cores = program.cores / program.slices;  // of a device
  double seconds = 0;
  for (std::size_t first = 0; first < program.hoisted_bytes.size(); first += cores) {
    const auto begin = program.hoisted_bytes.begin() + std::ptrdiff_t(first);
    const auto end = begin + cores;
    const double all = double(std::accumulate(begin, end, std::uint64_t{0}));
    const double max = double(*std::max_element(begin, end));
    seconds = std::max({seconds, all / (target.ddr_bytes_per_s * target.ddr_efficiency),
                        max / target.ddr_bytes_per_s_per_core});
  }
  return seconds;
}

}  // namespace npuscope::npu::nsp
