#include "npu/targets/nsp/target/shared_bandwidth.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace npuscope::npu::nsp::shared_bandwidth_test {
namespace {

// The fast one rounds every end up to a picosecond.
constexpr double tolerance = 30;
constexpr double gigabyte = 1e9;  // per second: a byte per nanosecond

TEST(SharedBandwidth, OneTransferHasTheLimitOfOne) {
  SharedBandwidth ddr(10 * gigabyte, gigabyte);
  ddr.add({}, 1, 1000);
  EXPECT_EQ(ddr.next_end(), Picoseconds{1'000'000});
  EXPECT_EQ(ddr.take(), 1u);
  EXPECT_EQ(ddr.next_end(), never);
}

TEST(SharedBandwidth, AnEarlierTransferIsSlowedFromWhenAnotherBegins) {
  SharedBandwidth ddr(gigabyte, gigabyte);
  ddr.add({}, 1, 1000);
  ddr.add(Picoseconds{500'000}, 2, 1000);  // 500 bytes of the first are left
  EXPECT_EQ(ddr.next_end(), Picoseconds{1'500'000});
  EXPECT_EQ(ddr.take(), 1u);
  EXPECT_EQ(ddr.next_end(), Picoseconds{2'000'000});
  EXPECT_EQ(ddr.take(), 2u);
}

TEST(SharedBandwidth, OfTransfersThatEndTogetherTheSmallestIdIsTakenFirst) {
  SharedBandwidth ddr(gigabyte, gigabyte);
  for (const std::uint32_t id : {7u, 3u, 5u}) ddr.add({}, id, 100);
  EXPECT_EQ(ddr.take(), 3u);
  EXPECT_EQ(ddr.take(), 5u);
  EXPECT_EQ(ddr.take(), 7u);
}

// Moves all transfers on, one event at a time.
class NaiveBandwidth {
 public:
  NaiveBandwidth(double total, double limit) : total_(total * 1e-12), limit_(limit * 1e-12) {}
  void add(double now, std::uint32_t id, double bytes) {
    advance(now);
    left_[id] = bytes;
  }
  double next_end() const {
    double min = 1e300;
    for (const auto& [id, bytes] : left_) min = std::min(min, bytes);
    return time_ + min / rate();
  }
  std::uint32_t take() {
    advance(next_end());
    const auto first =
        std::min_element(left_.begin(), left_.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    const std::uint32_t id = first->first;
    left_.erase(first);
    return id;
  }
  bool empty() const { return left_.empty(); }

 private:
  double rate() const { return std::min(limit_, total_ / double(left_.size())); }
  void advance(double now) {
    for (auto& [id, bytes] : left_) bytes -= rate() * (now - time_);
    time_ = now;
  }
  double total_, limit_, time_ = 0;
  std::map<std::uint32_t, double> left_;
};

TEST(SharedBandwidth, AgreesWithMovingEveryTransferOnAtEveryEvent) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    const double limit = 1e9 + double(random() % 1000) * 1e7;
    SharedBandwidth fast(5e9, limit);
    NaiveBandwidth naive(5e9, limit);
    Picoseconds now{};
    for (std::uint32_t id = 0; id < 60; ++id) {
      now += Picoseconds{std::int64_t(random() % 400'000)};
      while (fast.next_end() <= now) {
        ASSERT_NEAR(double(fast.next_end().value), naive.next_end(), tolerance);
        ASSERT_EQ(fast.take(), naive.take());
      }
      const std::uint64_t bytes = 1 + random() % 2000;
      fast.add(now, id, bytes);
      naive.add(double(now.value), id, double(bytes));
    }
    while (!naive.empty()) {
      ASSERT_NEAR(double(fast.next_end().value), naive.next_end(), tolerance);
      ASSERT_EQ(fast.take(), naive.take());
    }
    ASSERT_EQ(fast.next_end(), never);
  }
}

}  // namespace
}  // namespace npuscope::npu::nsp::shared_bandwidth_test
