// Spans that are not held, in the trace as those that are.
#include "formats/perfetto/write/span_source.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "formats/perfetto/random_profile.hpp"

namespace npuscope::perfetto::span_source_test {
namespace {

// The spans of a profile, of which the writer may hold some.
class FewHeld : public SpanSource {
 public:
  FewHeld(const Profile& profile, std::size_t held)
      : time_(profile), spans_(profile, time_), held_(held) {}

  Totals totals() const override { return spans_.totals(); }
  std::unique_ptr<SpanStream> spans_of(UnitId unit) const override {
    ++asked_;
    return spans_.spans_of(unit);
  }
  void flow_ends(std::uint32_t flows, std::vector<FlowEnd>& ends) const override {
    spans_.flow_ends(flows, ends);
  }
  std::size_t max_held() const override { return held_; }
  void count_losses(Losses& losses) const override { spans_.count_losses(losses); }

  std::size_t asked() const { return asked_; }

 private:
  TraceTime time_;
  ProfileSpans spans_;
  std::size_t held_;
  mutable std::size_t asked_ = 0;
};

struct Written {
  std::string bytes;
  WriteReport report;
};

Written write(std::initializer_list<TraceContent> contents) {
  Written written;
  written.report = write_trace(std::span(contents.begin(), contents.size()),
                               [&](std::string_view piece) { written.bytes += piece; });
  return written;
}

// Lanes beyond what may be held are written when the spans come once more.
TEST(SpanSource, ATraceIsTheSameHoweverFewSpansAreHeld) {
  bool asked_again = false;
  for (std::uint32_t seed = 1; seed <= 30; ++seed) {
    const Profile profile = test::random_profile(
        {.seed = seed, .spans = 600, .overlap = seed % 5 != 0, .accelerator = seed % 2 == 0});
    const Written whole = write({{&profile}});
    for (const std::size_t held : {0, 1, 2, 3, 7, 20, 100}) {
      const FewHeld few(profile, held);
      const Written written = write({{&profile, &few}});
      ASSERT_TRUE(written.bytes == whole.bytes) << "seed " << seed << ", " << held << " held";
      EXPECT_EQ(written.report.losses.entries, whole.report.losses.entries);
      EXPECT_EQ(written.report.tracks, whole.report.tracks);
      asked_again |= few.asked() > 3 * profile.units.size();
    }
  }
  EXPECT_TRUE(asked_again);
}

TEST(SpanSource, ArrowsOfSeveralContentsAreNumberedOn) {
  const Profile a = test::random_profile({.seed = 1}), b = test::random_profile({.seed = 2});
  const FewHeld of_a(a, 5), of_b(b, 5);
  const Written whole = write({{&a}, {&b}});
  EXPECT_TRUE(write({{&a, &of_a}, {&b, &of_b}}).bytes == whole.bytes);
  EXPECT_TRUE(write({{&a}, {&b, &of_b}}).bytes == whole.bytes);
}

// Slices that all overlap and never nest: a lane each, and a pass for each that cannot be held.
TEST(SpanSource, LanesThatCannotBeHeldTakePassesInProportion) {
  Profile profile;
  profile.clocks.push_back({profile.strings.intern("boottime"), ClockKind::wall, Hertz{1e9}});
  profile.units.push_back({});
  constexpr std::size_t lanes = 64;
  for (std::size_t i = 0; i < lanes; ++i) {
    profile.spans.unit.push_back(UnitId(0));
    profile.spans.op.push_back(OpId::none);
    profile.spans.kind.push_back(SpanKind::slice);
    profile.spans.start.push_back(std::int64_t(i));
    profile.spans.duration.push_back(1000);
  }
  const Written whole = write({{&profile}});
  for (const std::size_t held : {0, 1, 7, 31, 63}) {
    const FewHeld few(profile, held);
    EXPECT_TRUE(write({{&profile, &few}}).bytes == whole.bytes);
    const std::size_t passes = (lanes + held) / (held + 1);
    EXPECT_EQ(few.asked(), passes + 1) << held;  // and once for what has no unit
  }
}

}  // namespace
}  // namespace npuscope::perfetto::span_source_test
