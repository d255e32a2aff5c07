// What ops and units say of a real HTP optrace set, against figures of its own files.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "npuscope/analysis/analysis.hpp"
#include "npuscope/formats/open.hpp"
#include "report/ops/ops_document.hpp"
#include "report/units/units_document.hpp"

namespace npuscope::report::ops_units_of_htp_test {
namespace {

using nlohmann::json;

struct Chain8 : ::testing::Test {
  std::filesystem::path folder = NPUSCOPE_SHARED_DIR "/data/qnn/chain8";
  Profile profile;

  void SetUp() override {
    if (!std::filesystem::exists(folder)) GTEST_SKIP() << "the shared samples are not here";
    auto opened = open_profiles({&folder, 1});
    ASSERT_TRUE(opened) << opened.error().message;
    ASSERT_EQ(opened->profiles.size(), 1u);
    profile = std::move(opened->profiles[0]);
  }

  json json_of(const Result<Document>& document) const {
    return json::parse(documents_json({&*document, 1}, {}))["profiles"][0];
  }
  json ops(OpsRequest request) const {
    request.top = 0;
    const auto document = ops_document(analysis::Analysis(profile), request);
    EXPECT_TRUE(document) << document.error().message;
    return json_of(document)["ops"];
  }
};

TEST_F(Chain8, RowsAddUpToTheTotalsOfTheRun) {
  const json by_op = ops({});
  EXPECT_EQ(by_op["wall"], 64'829);
  double work = 0, waiting = 0, path = 0;
  for (const json& row : by_op["rows"]) {
    if (row["work"].is_number()) work += row["work"].get<double>();
    if (row["waiting"].is_number()) waiting += row["waiting"].get<double>();
    if (row["dominant_path"].is_number()) path += row["dominant_path"].get<double>();
  }
  EXPECT_EQ(work + waiting, 68'626);
  EXPECT_EQ(path, 63'056);
  for (const json& row : by_op["rows"]) {
    if (!row["dominant_path"].is_number()) continue;
    EXPECT_DOUBLE_EQ(row["dominant_path_share_of_run"].get<double>(),
                     row["dominant_path"].get<double>() / 63'056);
  }
}

TEST_F(Chain8, TheSameTimeIsInEveryGrouping) {
  for (const auto grouping :
       {analysis::Grouping::kind, analysis::Grouping::name, analysis::Grouping::core,
        analysis::Grouping::unit, analysis::Grouping::memory, analysis::Grouping::layer}) {
    const json table = ops({.grouping = grouping});
    double work = 0, waiting = 0;
    for (const json& row : table["rows"]) {
      if (row["work"].is_number()) work += row["work"].get<double>();
      if (row["waiting"].is_number()) waiting += row["waiting"].get<double>();
    }
    EXPECT_EQ(work, 56'531) << int(grouping);
    EXPECT_EQ(waiting, 11'834 + 261) << int(grouping);
  }
}

// Row by row what the published summary says, which the reader checks its own numbers against but
// the table adds up from the spans.
TEST_F(Chain8, DominantPathOfEveryRowIsThePublishedOne) {
  std::ifstream in(folder / "chrometrace_qnn_htp_analysis_summary.json");
  const json published = json::parse(in)["data"];
  const auto compare = [&](analysis::Grouping grouping, const char* key, const char* section,
                           const char* name) {
    std::map<std::string, double> expected, found;
    for (const json& row : published[section]["data"]) {
      const double cycles = row["num_dominant_path_cycles_htp_0"].get<double>();
      if (cycles > 0) expected[row[name].get<std::string>()] += cycles;
    }
    const json table = ops({.grouping = grouping});
    for (const json& row : table["rows"]) {
      const json& cycles = row["dominant_path"];
      if (cycles.is_number() && cycles.get<double>() > 0) {
        found[row[key].get<std::string>()] = cycles.get<double>();
      }
    }
    EXPECT_EQ(found, expected) << section;
    EXPECT_GE(expected.size(), 7u);
  };
  compare(analysis::Grouping::node, "node", "qnn_op_instances_nodes", "qnn_op");
  compare(analysis::Grouping::kind, "kind", "htp_op_types", "op");
}

// Each row of the published path is a stretch of time that one op owns: added up over the op's rows
// it is what the op's span has.
TEST_F(Chain8, DominantPathOfEverySpanIsTheSumOfThePublishedSegments) {
  std::ifstream in(folder / "chrometrace_qnn_htp_analysis_summary.json");
  const json published = json::parse(in)["data"];
  std::map<std::uint64_t, std::int64_t> expected, found;  // by the op's id
  std::size_t segments = 0;
  for (const json& row : published["dominant_path_htp_0"]["data"]) {
    if (row["htp_op"] == "Accumulated Idle") continue;
    expected[std::stoull(row["op_id"].get<std::string>(), nullptr, 16)] +=
        row["dp_cycles"].get<std::int64_t>();
    EXPECT_EQ(row["dp_cycles"].get<std::int64_t>(),
              row["end_cycle"].get<std::int64_t>() - row["start_cycle"].get<std::int64_t>());
    segments += 1;
  }
  EXPECT_EQ(segments, 45u);
  for (const MeasureColumn& column : profile.spans.measures) {
    if (column.kind != MeasureKind::dominant_path) continue;
    for (std::size_t row = 0; row < profile.spans.size(); ++row) {
      if (column.values[row] <= 0) continue;
      found[profile.ops[index_of(profile.spans.op[row])].id] += column.values[row];
    }
    break;
  }
  EXPECT_EQ(found, expected);
}

TEST_F(Chain8, ConvolutionsAreTwelveThousandCycles) {
  const json kinds = ops({.grouping = analysis::Grouping::kind});
  const auto conv = std::find_if(kinds["rows"].begin(), kinds["rows"].end(), [](const json& row) {
    return row["kind"] == "q::ConvLayer_s1.opt";
  });
  ASSERT_NE(conv, kinds["rows"].end());
  EXPECT_EQ((*conv)["work"], 12'312);
  EXPECT_EQ((*conv)["runs"], 8);
  EXPECT_GT((*conv)["cycles_per_packet"], 1.0);
}

TEST_F(Chain8, TheHmxIsNotTheLaneNamedSo) {
  const auto document = units_document(analysis::Analysis(profile), {.top = 0});
  ASSERT_TRUE(document) << document.error().message;
  const json page = json_of(document);
  EXPECT_EQ(page["wall"]["wall"], 64'829);
  const auto find = [](const json& rows, const char* key, const char* value) {
    return *std::find_if(rows.begin(), rows.end(), [&](const json& row) {
      return row[key].get<std::string>().find(value) != std::string::npos;
    });
  };
  const json hmx = find(page["engines"]["rows"], "class", "HMX");
  EXPECT_EQ(hmx["domain"], 12'312);
  EXPECT_NEAR(hmx["domain_share_of_wall"].get<double>(), 0.190, 0.0005);
  EXPECT_EQ(hmx["use_is"], "structure only");
  const json lane = find(page["units"]["rows"], "unit", "HMX");
  EXPECT_EQ(lane["waiting_for_dma"], 11'834);
  EXPECT_EQ(lane["at_syncs"], 261);
  const double busy = lane["busy"].get<double>() + lane["waiting_for_dma"].get<double>() +
                      lane["at_syncs"].get<double>();
  EXPECT_EQ(busy, 38'764);  // what QHAS calls the use of its lane, 59.8 %
  EXPECT_NEAR(busy / 64'829, 0.598, 0.0005);
  double parts = 0, union_of_all = 0;
  for (const json& row : page["units"]["rows"]) {
    parts = row["busy"].get<double>() + row["waiting_for_dma"].get<double>() +
            row["at_syncs"].get<double>() + row["at_barriers"].get<double>() +
            row["idle"].get<double>();
    EXPECT_EQ(parts, 64'829) << row["unit"];
  }
  for (const json& row : page["concurrency"]["rows"]) union_of_all += row["time"].get<double>();
  EXPECT_EQ(union_of_all, 64'829);
}

TEST_F(Chain8, AColumnThatItDoesNotHaveIsAnErrorThatListsThoseThatItHas) {
  const auto sorted = ops_document(analysis::Analysis(profile), {.sort = "luck"});
  ASSERT_FALSE(sorted);
  EXPECT_THAT(sorted.error().message,
              ::testing::HasSubstr("no column 'luck' to sort by; it has op, runs,"));
  const auto chosen = ops_document(analysis::Analysis(profile), {.columns = {"work", "luck"}});
  ASSERT_FALSE(chosen);
  EXPECT_THAT(chosen.error().message,
              ::testing::HasSubstr("no column 'luck'; it has op, layers, kind,"));
}

// Both columns were called pcycles, and JSON kept only that of the last core.
TEST(OpsOfSummary, CyclesOfTwoCoresAreTwoColumns) {
  const std::filesystem::path file =
      NPUSCOPE_TEST_DATA "/qaic/bert-base-cased_b8_2core.opstats.summary.txt";
  const auto opened = open_profiles({&file, 1});
  ASSERT_TRUE(opened) << opened.error().message;
  const auto document = ops_document(analysis::Analysis(opened->profiles.at(0)),
                                     {.grouping = analysis::Grouping::kind, .top = 1});
  ASSERT_TRUE(document) << document.error().message;
  const json row =
      json::parse(documents_json({&*document, 1}, {}))["profiles"][0]["ops"]["rows"][0];
  EXPECT_EQ(row["kind"], "aicconvolutiond32");
  EXPECT_EQ(row["pcycles_core_0_cycles"], 15'612'581);
  EXPECT_EQ(row["pcycles_core_1_cycles"], 15'560'590);
}

// A summary has no timeline, only what each kind of op cost on each core.
TEST(OpsOfSummary, KindsAreTheFiguresOfItsRows) {
  const std::filesystem::path file =
      NPUSCOPE_TEST_DATA "/qaic/bert-base-cased_b8_2core.opstats.summary.txt";
  std::map<std::string, double> ucycles, counts;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string core, ticks, share, pcycles, pshare, count, out, u, p, deviation, kind;
    words >> core >> ticks >> share >> pcycles >> pshare >> count >> out >> u >> p >> deviation;
    if (!share.ends_with('%') || pcycles == "N/A" || !(words >> kind)) continue;
    ucycles[kind] += std::stod(ticks);
    counts[kind] += std::stod(count);
  }
  ASSERT_GT(ucycles.size(), 15u);
  const auto opened = open_profiles({&file, 1});
  ASSERT_TRUE(opened) << opened.error().message;
  const auto document = ops_document(analysis::Analysis(opened->profiles.at(0)),
                                     {.grouping = analysis::Grouping::kind, .top = 0});
  ASSERT_TRUE(document) << document.error().message;
  const json rows = json::parse(documents_json({&*document, 1}, {}))["profiles"][0]["ops"]["rows"];
  ASSERT_EQ(rows.size(), ucycles.size());
  for (const json& row : rows) {
    const std::string kind = row["kind"];
    EXPECT_EQ(row["ucycles"], ucycles.at(kind)) << kind;
    EXPECT_EQ(row["count"], counts.at(kind)) << kind;
  }
}

}  // namespace
}  // namespace npuscope::report::ops_units_of_htp_test
