#include "profile/owned_time.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <tuple>

namespace npuscope::owned_time_test {
namespace {

// A letter for each instant: the owner, '.' where there is none.
std::string drawn(const std::vector<OwnedTime>& owners) {
  std::string out;
  for (const OwnedTime& time : owners) {
    out.append(std::size_t(time.end - time.start),
               time.owner == OwnedTime::idle ? '.' : char('a' + time.owner));
  }
  return out;
}

// The rule as it is told, instant by instant.
std::string drawn_slowly(const std::vector<OwnedSpan>& spans) {
  std::int64_t first = INT64_MAX, last = INT64_MIN;
  for (const OwnedSpan& span : spans) {
    first = std::min(first, span.start);
    last = std::max(last, span.end);
  }
  std::string out;
  for (std::int64_t now = first; now < last; ++now) {
    std::size_t owner = OwnedTime::idle;
    for (std::size_t i = 0; i < spans.size(); ++i) {
      if (now < spans[i].start || now >= spans[i].end) continue;
      const auto key = [&](std::size_t s) {
        return std::tuple(spans[s].rank, spans[s].tid, spans[s].start, s);
      };
      if (owner == OwnedTime::idle || key(i) < key(owner)) owner = i;
    }
    out += owner == OwnedTime::idle ? '.' : char('a' + owner);
  }
  return out;
}

TEST(DominantPath, HmxOwnsBeforeHvxBeforeEverythingElse) {
  const std::vector<OwnedSpan> spans{{0, 8, 512, 1}, {3, 6, 256, 0}, {3, 9, 514, 1}};
  EXPECT_EQ(drawn(owners_of(spans)), "aaabbbaac");
}

TEST(DominantPath, TheLowerThreadOwnsAmongEquals) {
  EXPECT_EQ(drawn(owners_of(std::vector<OwnedSpan>{{0, 4, 513, 1}, {1, 3, 512, 1}})), "abba");
  EXPECT_EQ(drawn(owners_of(std::vector<OwnedSpan>{{0, 4, 256, 2}, {1, 3, 512, 1}})), "abba");
}

TEST(DominantPath, GapsAreIdleAndTheEndIsTheLastEnd) {
  EXPECT_EQ(drawn(owners_of(std::vector<OwnedSpan>{{0, 2, 1, 2}, {5, 6, 1, 2}})), "aa...b");
  // A span of no length owns nothing.
  EXPECT_EQ(drawn(owners_of(std::vector<OwnedSpan>{{0, 2, 1, 2}, {1, 1, 1, 0}, {9, 9, 1, 0}})),
            "aa");
  EXPECT_TRUE(owners_of({}).empty());
}

TEST(DominantPath, NeighboursHaveDifferentOwners) {
  const auto owners =
      owners_of(std::vector<OwnedSpan>{{0, 9, 256, 0}, {1, 2, 512, 1}, {4, 5, 512, 1}});
  ASSERT_EQ(owners.size(), 1u);
  EXPECT_EQ(owners[0].end, 9);
}

TEST(DominantPath, AgreesWithItsSlowTwin) {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::vector<OwnedSpan> spans;
    const std::size_t count = 1 + random() % 12;
    for (std::size_t i = 0; i < count; ++i) {
      const auto start = std::int64_t(random() % 40);
      spans.push_back({start, start + std::int64_t(random() % 15), std::int64_t(random() % 4),
                       std::uint8_t(random() % 3)});
    }
    std::string fast = drawn(owners_of(spans)), slow = drawn_slowly(spans);
    // Time before a first or after a last span of no length belongs to nobody.
    const auto trim = [](std::string& text) {
      while (!text.empty() && text.back() == '.') text.pop_back();
      text.erase(0, std::min(text.find_first_not_of('.'), text.size()));
    };
    trim(fast);
    trim(slow);
    ASSERT_EQ(fast, slow) << "round " << round;
  }
}

TEST(DominantPath, ManySpansTakeLittleTime) {
  std::vector<OwnedSpan> spans;
  for (std::int64_t i = 0; i < 300'000; ++i) spans.push_back({i, i + 100'000, i % 7, 1});
  std::int64_t owned = 0;
  for (const OwnedTime& time : owners_of(spans)) owned += time.end - time.start;
  EXPECT_EQ(owned, 399'999);
}

}  // namespace
}  // namespace npuscope::owned_time_test
