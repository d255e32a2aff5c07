// A run of JAX as the XSpace and as the trace that XLA wrote of it: the same spans.
#include <gmock/gmock.h>

#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <tuple>

#include "npuscope/formats/open.hpp"

namespace npuscope::xplane_samples_test {
namespace {

namespace fs = std::filesystem;
const fs::path shared = fs::path(NPUSCOPE_SHARED_DIR) / "data/xla";

// Unit, op, kind, start and duration in nanoseconds, inference.
using Row = std::tuple<std::string, std::string, SpanKind, double, double, std::uint32_t>;

std::multiset<Row> rows_of(const Profile& profile) {
  const double ns = profile.clocks[index_of(profile.base_clock)].rate.value / 1e9;
  std::multiset<Row> rows;
  for (std::size_t row = 0; row < profile.spans.size(); ++row) {
    const Spans& spans = profile.spans;
    rows.emplace(profile.text(profile.units[index_of(spans.unit[row])].name),
                 profile.text(profile.ops[index_of(spans.op[row])].name), spans.kind[row],
                 double(spans.start[row]) / ns, double(spans.duration[row]) / ns,
                 spans.instance.empty() ? every_instance : spans.instance[row]);
  }
  return rows;
}

Profile open_one(const fs::path& path) {
  auto opened = open_profiles({&path, 1});
  EXPECT_TRUE(opened && opened->profiles.size() == 1);
  return opened ? std::move(opened->profiles.front()) : Profile{};
}

TEST(XplaneSamples, ARunIsTheSameInBothOfItsFiles) {
  if (!fs::exists(shared)) GTEST_SKIP() << "no shared data";
  const Profile space = open_one(shared / "vm.xplane.pb.gz");
  const Profile trace = open_one(shared / "vm.trace.json.gz");
  EXPECT_EQ(rows_of(space), rows_of(trace));
  std::map<std::string, std::pair<std::size_t, std::int64_t>> sums;  // ps
  for (std::size_t row = 0; row < space.spans.size(); ++row) {
    if (space.spans.kind[row] != SpanKind::kernel) continue;
    auto& [count, sum] =
        sums[std::string(space.text(space.ops[index_of(space.spans.op[row])].name))];
    count += 1;
    sum += space.spans.duration[row];
  }
  std::int64_t all = 0;
  for (const auto& [name, sum] : sums) all += sum.second;
  EXPECT_EQ(sums["ynn_fusion"].first, 5u);
  EXPECT_EQ(all, 70'274'591'000);
}

TEST(XplaneSamples, AFolderOfTheRunIsOneProfile) {
  const fs::path example = fs::path(NPUSCOPE_SOURCE_DIR) / "examples/jax/vm.xplane.pb.gz";
  const fs::path folder =
      fs::path(testing::TempDir()) / ("xplane_" + std::to_string(::getpid())) / "run";
  fs::create_directories(folder);
  fs::copy_file(example, folder / "a.xplane.pb.gz");
  fs::copy_file(example, folder / "b.xplane.pb.gz");
  std::ofstream(folder / "a.trace.json") << R"({"traceEvents": [{"ph": "X", "ts": 1, "dur": 2,
    "pid": 1, "tid": 1, "name": "x"}]})";
  const auto opened = open_profiles({&folder, 1});
  fs::remove_all(folder.parent_path());
  ASSERT_TRUE(opened.has_value());
  ASSERT_EQ(opened->profiles.size(), 1u);
  EXPECT_EQ(opened->profiles.front().provenance.files.size(), 2u);
  ASSERT_EQ(opened->notes.size(), 1u);
  EXPECT_THAT(opened->notes.front().message, testing::HasSubstr("of the same run"));
}

}  // namespace
}  // namespace npuscope::xplane_samples_test
