// A set of a real device, written as a Perfetto trace and opened again: every table that the trace
// can hold is the same, byte for byte, in the JSON that both are exported as.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "jobs/export/convert.hpp"
#include "jobs/export/export.hpp"
#include "npuscope/formats/open.hpp"

namespace npuscope::jobs::perfetto_round_trip_test {
namespace {

namespace fs = std::filesystem;

class PerfettoRoundTrip : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fmt::format("npuscope-round-trip-{}", ::getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  Profile open(const fs::path& path) {
    const std::vector<fs::path> paths{path};
    auto opened = open_profiles(paths);
    EXPECT_TRUE(opened) << opened.error().message;
    return std::move(opened->profiles.front());
  }

  nlohmann::json json_of(const Profile& profile) {
    const fs::path path = folder_ / "profile.json";
    EXPECT_TRUE(write_json(profile, path));
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return nlohmann::json::parse(text.str());
  }

  // A trace has the spans of one unit after those of another.
  static std::multiset<std::string> spans_of(const nlohmann::json& profile) {
    const nlohmann::json& spans = profile["spans"];
    std::multiset<std::string> rows;
    for (std::size_t i = 0; i < spans["op"].size(); ++i) {
      std::string row;
      for (const char* column : {"unit", "kind", "start", "duration", "inference"}) {
        row += spans.contains(column) ? spans[column][i].dump() + " " : "";
      }
      if (!spans["op"][i].is_null()) {
        const std::size_t op = spans["op"][i];
        for (const char* column : {"name", "kind", "node", "engine", "vendor_id"}) {
          row += profile["ops"][column][op].dump() + " ";
        }
      }
      for (const nlohmann::json& measure : spans["measures"]) {
        row += measure["name"].dump() + measure["kind"].dump() + measure["values"][i].dump() + " ";
      }
      rows.insert(row);
    }
    return rows;
  }

  fs::path folder_;
};

TEST_F(PerfettoRoundTrip, OfAnOptraceSet) {
  const fs::path set = fs::path(NPUSCOPE_SHARED_DIR) / "data" / "qnn" / "chain8";
  if (!fs::exists(set)) GTEST_SKIP() << set << " is absent";
  const Profile profile = open(set);
  const fs::path trace = folder_ / "set.pftrace";
  ASSERT_TRUE(convert({&profile, 1}, {Target::perfetto, trace, {}}));
  const nlohmann::json was = json_of(profile);
  const nlohmann::json is = json_of(open(trace));
  for (const char* table : {"clocks", "units", "phases", "counter_series"}) {
    EXPECT_EQ(is[table], was[table]) << table;
  }
  for (const char* fact :
       {"version", "device", "graph", "instrumentation", "inferences", "temperature"}) {
    EXPECT_EQ(is["provenance"][fact], was["provenance"][fact]) << fact;
  }
  EXPECT_EQ(spans_of(is), spans_of(was));
  EXPECT_EQ(is["flows"]["kind"].size(), was["flows"]["kind"].size());
  EXPECT_EQ(is["counter_samples"]["time"].size(), was["counter_samples"]["time"].size());
}

}  // namespace
}  // namespace npuscope::jobs::perfetto_round_trip_test
