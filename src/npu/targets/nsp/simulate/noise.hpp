// What makes one inference of a card longer than the next, beyond the jitter of single kernels: all
// of its kernels take a little longer, seldom much longer; the DDR's refresh meets its transfers;
// barriers wait for who comes late; the host takes its time. Seeded, drawn anew for each inference,
// and there only where three samples or more are asked for: such a set is compared with others
// (`npuscope diff`), and without it two runs of one program would differ beyond all doubt.
//
//   Noise noise(target, options);
//   cycles * noise.of(activation, inference).kernels      0.975 to 1.15 of them
#pragma once

#include <array>

#include "npu/targets/nsp/simulate/events.hpp"
#include "npu/targets/nsp/target/target.hpp"
#include "npuscope/npu/nsp/simulate/run.hpp"

namespace npuscope::npu::nsp {

// Close to exponential, mean 1, at most 7: its quantiles, with straight lines between them, since
// a logarithm is not the same on every machine.
constexpr double exponential(std::uint64_t bits) {
  constexpr std::array<double, 17> quantiles{0,      0.0645, 0.1335, 0.2076, 0.2877, 0.3747,
                                             0.4700, 0.5754, 0.6931, 0.8267, 0.9808, 1.1632,
                                             1.3863, 1.6740, 2.0794, 2.7726, 4.2};
  const std::uint64_t place = bits >> 60;
  const double within = double(bits >> 28 & 0xffff'ffff) / 4294967296.0;
  const double value = quantiles[place] + (quantiles[place + 1] - quantiles[place]) * within;
  // One in 64 lies further out.
  return place == 15 && within > 0.75 ? value + 2.8 * (within - 0.75) * 4 : value;
}

class Noise {
 public:
  // Of an inference: what cycles of kernels, and bytes in DDR, are multiplied by.
  struct Factors {
    double kernels = 1, ddr = 1;
  };

  Noise(const Target& target, const SimulationOptions& options)
      : target_(target.noise), seed_(options.seed), on_(options.samples > 2) {}

  Factors of(std::uint64_t activation, std::uint64_t inference) const {
    if (!on_) return {};
    const std::uint64_t kernels = key_of(seed_, RandomUse::pace, activation, inference);
    const std::uint64_t ddr = key_of(seed_, RandomUse::memory, activation, inference);
    return {1 + target_.kernels * (exponential(kernels) - 1),
            std::max(0.5, 1 + target_.ddr * normal(ddr))};
  }
  // Bytes that the DDR would move in the time that these take.
  std::uint64_t in_memory(std::uint64_t bytes, const Factors& factors) const {
    return on_ ? std::uint64_t(double(bytes) * factors.ddr) : bytes;
  }
  Picoseconds barrier(std::uint64_t random) const {
    return on_ ? from_seconds(target_.barrier_s * exponential(random)) : Picoseconds{};
  }
  Picoseconds host_step(Picoseconds step, std::uint64_t activation, std::uint64_t inference,
                        std::uint64_t which) const {
    if (!on_) return step;
    const double drawn = exponential(key_of(seed_, RandomUse::host, activation, inference, which));
    return picoseconds(double(step.value) * (1 + target_.host * (drawn - 1)));
  }

 private:
  TargetNoise target_;
  std::uint64_t seed_;
  bool on_;
};

}  // namespace npuscope::npu::nsp
