#include "formats/openvino/profiling_text.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>

namespace npuscope::openvino::profiling_text_test {
namespace {

struct Printed {
  std::string text;
  std::map<SpanKind, std::int64_t> work;  // ns of tasks that ran one after another on their units
  std::size_t tasks = 0;
};

// Tasks of two clusters with their tiles and a DMA; layers and totals are counted from them.
Printed print(unsigned seed, bool with_totals = true) {
  std::mt19937 random(seed);
  const auto one_of = [&](int count) { return int(random() % unsigned(count)); };
  constexpr std::array<const char*, 3> kinds{"DPU", "SW", "DMA"};
  Printed printed;
  std::map<std::string, std::int64_t> free;  // by unit, in 10 ns
  std::int64_t total = 0, end = 0, first = std::int64_t{1} << 60;
  std::string layers;
  for (int layer = 0; layer < 6; ++layer) {
    std::array<std::int64_t, 3> of_kind{};
    for (int i = 0; i <= one_of(8); ++i) {
      const int kind = one_of(3), cluster = one_of(2), tile = one_of(2);
      std::string name = fmt::format("layer{} [0, 1]?t_Convolution", layer);
      if (kind == 1) name += fmt::format("/tile_{}", tile);
      if (kind < 2) name += fmt::format("/cluster_{}", cluster);
      const std::string unit =
          fmt::format("{} {} {}", kind, kind < 2 ? cluster : 0, kind == 1 ? tile : 0);
      const std::int64_t start = free[unit] + one_of(50), time = one_of(900);
      free[unit] = start + time;
      of_kind[std::size_t(kind)] += time;
      total += time;
      end = std::max(end, start + time);
      first = std::min(first, start);
      printed.work[kind == 2 ? SpanKind::copy : SpanKind::kernel] += 10 * time;
      ++printed.tasks;
      printed.text += fmt::format("Task({}): {:<60}\tTime(us): {:.2f}    \t",
                                  kinds[std::size_t(kind)], name, double(time) * 1e-2);
      if (kind == 1) printed.text += fmt::format("Cycles:{}({})\t", 3 * time, 7);
      printed.text += fmt::format("Start(us): {:.2f}\n", double(start) * 1e-2);
    }
    layers += fmt::format(
        "Layer: layer{} [0, 1]     Type: Convolution   DPU: {:.2f}  SW: {:.2f}  DMA: {:.2f}  "
        "Start: 0.00\n",
        layer, double(of_kind[0]) * 1e-2, double(of_kind[1]) * 1e-2, double(of_kind[2]) * 1e-2);
  }
  printed.text += layers;
  if (with_totals) {
    printed.text += fmt::format("Total time: {:.2f}us, Real: {:.2f}us\n", double(total) * 1e-2,
                                double(end - first) * 1e-2);
  }
  return printed;
}

std::vector<Profile> open(const std::string& text) {
  auto source = open_byte_source(text, "profile.txt");
  auto runs = read_profiling_text(**source);
  EXPECT_TRUE(runs) << runs.error().message;
  std::vector<Profile> profiles;
  if (!runs) return profiles;
  for (const Run& run : *runs) profiles.push_back(make_profile(run, {}));
  return profiles;
}

class Printouts : public testing::TestWithParam<unsigned> {};

TEST_P(Printouts, TasksAreWorkOfTheirUnits) {
  const Printed printed = print(GetParam());
  ASSERT_TRUE(looks_like_profiling_text(printed.text));
  const std::vector<Profile> profiles = open(printed.text);
  ASSERT_EQ(profiles.size(), 1u);
  const Profile& profile = profiles[0];
  EXPECT_EQ(profile.spans.size(), printed.tasks);
  std::map<SpanKind, std::int64_t> work;
  for (std::size_t row = 0; row < profile.spans.size(); ++row) {
    work[profile.spans.kind[row]] += profile.spans.duration[row];
  }
  EXPECT_EQ(work, printed.work);
  ASSERT_EQ(profile.checks.size(), 3u);
  for (const Check& check : profile.checks) {
    EXPECT_EQ(check.outcome, Check::Outcome::passed) << check.name << " " << check.detail;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Printouts, testing::Range(1u, 12u));

TEST(ProfilingText, InferencesAreProfilesOfTheirOwn) {
  const std::vector<Profile> profiles =
      open("Available devices: NPU\n" + print(1).text + "\n" + print(2).text);
  EXPECT_EQ(profiles.size(), 2u);
  EXPECT_EQ(profiles[1].spans.size(), print(2).tasks);
}

TEST(ProfilingText, TotalsThatDifferAreFailedChecks) {
  const Profile profile =
      open(print(3, false).text + "Total time: 0.01us, Real: 999999.00us\n").front();
  EXPECT_EQ(std::ranges::count(profile.checks, Check::Outcome::failed, &Check::outcome), 2);
}

TEST(ProfilingText, LinesThatAreCutAreCounted) {
  const Profile profile = open(
      "Task(DPU): a?t_X  Time(us): 1.00 Start(us): 0.00\n"
      "Task(DPU): b?t_X  Time(us): 1.00 Sta\n"
      "Task(SW): c?t_X  Time(us): nan Cycles:x(y Start(us): 1e300\n"
      "Task(DMA): Time(us): 1.0 Start(us): -5\n")[0];
  EXPECT_EQ(profile.spans.size(), 1u);
  ASSERT_EQ(profile.notes.size(), 1u);
  EXPECT_EQ(profile.notes[0].count, 3u);
}

}  // namespace
}  // namespace npuscope::openvino::profiling_text_test
