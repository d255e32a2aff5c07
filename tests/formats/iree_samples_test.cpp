// A run of IREE as JSON lines and as the trace that iree-profile-render made of it: equal sums.
#include <gmock/gmock.h>

#include <filesystem>
#include <map>

#include "npuscope/formats/open.hpp"

namespace npuscope::iree_samples_test {
namespace {

namespace fs = std::filesystem;

using Sums = std::map<std::string, std::pair<int, std::int64_t>>;

Sums sums_of(const fs::path& path) {
  Sums sums;
  const auto opened = open_profiles({&path, 1});
  if (!opened) return sums;
  const Profile& profile = opened->profiles.front();
  for (std::size_t row = 0; row < profile.spans.size(); ++row) {
    const SpanKind kind = profile.spans.kind[row];
    if (kind != SpanKind::kernel && kind != SpanKind::host) continue;
    std::string name(profile.text(profile.ops[index_of(profile.spans.op[row])].name));
    if (name.starts_with("host:")) name = name.substr(5);
    sums[name].first += 1;
    sums[name].second += profile.spans.duration[row];
  }
  return sums;
}

TEST(IreeSamples, LinesAndTraceAddUpToTheSame) {
  const fs::path folder = fs::path(NPUSCOPE_SHARED_DIR) / "data/iree";
  if (!fs::exists(folder)) GTEST_SKIP() << "no shared data";
  const Sums lines = sums_of(folder / "net.jsonl");
  EXPECT_EQ(lines.size(), 8u);
  EXPECT_EQ(lines, sums_of(folder / "net.pftrace"));
}

}  // namespace
}  // namespace npuscope::iree_samples_test
