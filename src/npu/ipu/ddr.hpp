// The DDR that a few DMA engines share, in whole cycles: with n transfers under way each moves
// min(limit of one, total / n) a cycle, kept in 1/65536 of a byte so that nothing is rounded twice.
//
//   Ddr ddr(total, limit);
//   ddr.begin(engine, bytes);
//   const std::int64_t cycles = *ddr.next_end();      until the first transfer is complete
//   ddr.pass(cycles);
//   ddr.is_complete(engine)
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace npuscope::npu::ipu {

class Ddr {
 public:
  // Bytes a cycle.
  Ddr(double total, double limit_of_one, std::size_t engines)
      : total_(fixed(total)), limit_(fixed(limit_of_one)), left_(engines, 0) {}

  void begin(std::size_t engine, std::uint64_t bytes) { left_[engine] = bytes << fraction_bits; }
  bool is_complete(std::size_t engine) const { return left_[engine] == 0; }

  std::optional<std::int64_t> next_end() const {
    std::optional<std::int64_t> min;
    const std::uint64_t rate = rate_of_one();
    for (const std::uint64_t left : left_) {
      if (left == 0) continue;
      const auto cycles = std::int64_t((left + rate - 1) / rate);
      min = std::min(min.value_or(cycles), cycles);
    }
    return min;
  }

  void pass(std::int64_t cycles) {
    const std::uint64_t moved = rate_of_one() * std::uint64_t(cycles);
    for (std::uint64_t& left : left_) left -= std::min(left, moved);
  }

 private:
  static constexpr int fraction_bits = 16;
  static std::uint64_t fixed(double bytes_a_cycle) {
    return std::max<std::uint64_t>(1, std::uint64_t(bytes_a_cycle * (1 << fraction_bits)));
  }
  std::uint64_t rate_of_one() const {
    const auto active = std::uint64_t(
        std::count_if(left_.begin(), left_.end(), [](std::uint64_t left) { return left > 0; }));
    return std::max<std::uint64_t>(1,
                                   std::min(limit_, total_ / std::max<std::uint64_t>(1, active)));
  }

  std::uint64_t total_, limit_;
  std::vector<std::uint64_t> left_;  // of each engine's transfer
};

}  // namespace npuscope::npu::ipu
