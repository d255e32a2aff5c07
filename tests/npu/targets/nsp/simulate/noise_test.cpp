// Noise of an inference: none of a single sample, drawn anew for each of several, and as large as
// on cards.
#include "npu/targets/nsp/simulate/noise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace npuscope::npu::nsp::noise_test {
namespace {

SimulationOptions samples(std::uint64_t count, std::uint64_t seed = 1) {
  SimulationOptions options;
  options.samples = count;
  options.seed = seed;
  return options;
}

struct Moments {
  double mean = 0, deviation = 0;
};
Moments moments_of(const std::vector<double>& values) {
  Moments moments;
  for (const double value : values) moments.mean += value / double(values.size());
  for (const double value : values)
    moments.deviation += std::pow(value - moments.mean, 2) / double(values.size());
  moments.deviation = std::sqrt(moments.deviation);
  return moments;
}

TEST(Exponential, HasMeanAndDeviationOne) {
  std::vector<double> values;
  for (std::uint64_t i = 0; i < 200'000; ++i) values.push_back(exponential(mix(i)));
  const Moments moments = moments_of(values);
  EXPECT_NEAR(moments.mean, 1, 0.03);
  EXPECT_NEAR(moments.deviation, 1, 0.05);
  EXPECT_EQ(exponential(0), 0);
  EXPECT_LE(exponential(~std::uint64_t{0}), 7.1);
}

TEST(Exponential, GrowsWithItsBits) {
  double before = -1;
  for (std::uint64_t bits = 0; bits < 1024; ++bits) {
    const double now = exponential(bits << 54);
    EXPECT_GE(now, before);
    before = now;
  }
}

TEST(Noise, IsNoneOfTwoSamples) {
  const Target target = *builtin_target("aic100");
  const Noise noise(target, samples(2));
  EXPECT_EQ(noise.of(0, 7).kernels, 1);
  EXPECT_EQ(noise.in_memory(1000, noise.of(0, 7)), 1000u);
  EXPECT_EQ(noise.barrier(12345), Picoseconds{});
  EXPECT_EQ(noise.host_step(Picoseconds{5}, 0, 0, 0), Picoseconds{5});
}

TEST(Noise, OfSeveralSamplesIsThatOfCards) {
  const Target target = *builtin_target("aic100");
  const Noise noise(target, samples(8));
  std::vector<double> kernels, ddr, barriers;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    kernels.push_back(noise.of(0, i).kernels);
    ddr.push_back(noise.of(0, i).ddr);
    barriers.push_back(double(noise.barrier(mix(i)).value) * 1e-12 * 19.2e6);
  }
  EXPECT_NEAR(moments_of(kernels).mean, 1, 0.002);
  EXPECT_NEAR(moments_of(kernels).deviation, 374.9 / 22'777, 0.002);  // BERT
  EXPECT_NEAR(moments_of(ddr).deviation, 93.7 / 124'826, 0.0001);     // Amber
  EXPECT_NEAR(moments_of(barriers).mean, 12, 0.5);                    // ticks
}

TEST(Noise, FollowsFromSeedActivationAndInference) {
  const Target target = *builtin_target("aic100");
  const Noise one(target, samples(8, 1)), same(target, samples(9, 1)), other(target, samples(8, 2));
  EXPECT_EQ(one.of(1, 5).kernels, same.of(1, 5).kernels);
  EXPECT_NE(one.of(1, 5).kernels, other.of(1, 5).kernels);
  EXPECT_NE(one.of(1, 5).kernels, one.of(1, 6).kernels);
  EXPECT_NE(one.of(1, 5).kernels, one.of(0, 5).kernels);
}

TEST(Noise, IsNoneOfATargetWithoutFigures) {
  const Target target = *builtin_target("htp-v75");
  const Noise noise(target, samples(8));
  EXPECT_EQ(noise.of(0, 3).kernels, 1);
  EXPECT_EQ(noise.of(0, 3).ddr, 1);
  EXPECT_EQ(noise.barrier(99), Picoseconds{});
}

}  // namespace
}  // namespace npuscope::npu::nsp::noise_test
