// npuscope ops and npuscope units as a user runs them.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/program.hpp"
#include "cli/trace_folder.hpp"

namespace npuscope::cli::ops_test {
namespace {

using testing::HasSubstr;

using Ops = TraceFolder;

TEST_F(Ops, PrintsATable) {
  const Outcome outcome =
      run_npuscope({"ops", path("trace.json"), "--columns", "runs,work,active", "--sort", "op"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr(R"(
OPS, by name
  op      runs      work    active
  matmul     1  50.00 us  50.00 us
  step       2  100.0 us  150.0 us
)"));
}

TEST_F(Ops, PrintsAWholePage) {
  const Outcome outcome = run_npuscope({"ops", path("trace.json")});
  EXPECT_EQ(outcome.errors, "");
  EXPECT_EQ(outcome.output, path("trace.json") + R"(

OPS, by work
  op      kind    on      runs      work  of all    active  of wall       p50       p95
  step    user    thread     2  100.0 us  66.7 %  150.0 us   75.0 %  75.00 us  97.50 us
  matmul  matrix  thread     1  50.00 us  33.3 %  50.00 us   25.0 %  50.00 us  50.00 us
  work is a sum over units and instances and may exceed the wall; active counts each moment once;
  p50 and p95 are of a run, from its first start to its last end.
  Shares: of wall, the timeline's 200.0 us; of all, the sum over all rows.
)");
}

std::string real_summary() {
  return std::string(NPUSCOPE_TEST_DATA) + "/qaic/bert-base-cased_b8_2core.opstats.summary.txt";
}

// "c0  917  0.21%  57723  0.20%  1  768.00 … aicgather HVX DDR (float16, ui8, index32)"
struct SummaryRow {
  std::string core, kind, group, memory;
  double pcycles_percent = 0;
};

std::vector<SummaryRow> rows_of_the_summary() {
  std::vector<SummaryRow> rows;
  std::ifstream in(real_summary());
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    SummaryRow row;
    std::string skipped, percent;
    words >> row.core >> skipped >> skipped >> skipped >> percent;
    for (int i = 0; i < 5; ++i) words >> skipped;
    words >> row.kind >> row.group >> row.memory;
    if (row.memory.empty() || percent.back() != '%' || percent == "N/A") continue;
    row.pcycles_percent = std::stod(percent);
    rows.push_back(row);
  }
  return rows;
}

// The vendor's own column, summed over rows of other types, each rounded to a hundredth.
TEST_F(Ops, SharesOfACoresPcyclesAreTheSummarys) {
  std::map<std::pair<std::string, std::string>, std::pair<double, int>> told;
  for (const SummaryRow& row : rows_of_the_summary()) {
    auto& sum = told[{row.kind + " " + row.group + " " + row.memory, row.core}];
    sum.first += row.pcycles_percent;
    sum.second += 1;
  }
  EXPECT_GT(told.size(), 40u);
  const Outcome outcome = run_npuscope({"ops", "--json", real_summary()});
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  const auto json = nlohmann::json::parse(outcome.output);
  std::map<std::string, nlohmann::json> rows;
  for (const auto& row : json.at("profiles")[0].at("ops").at("rows")) {
    rows[row.at("op").get<std::string>()] = row;
  }
  for (const auto& [key, sum] : told) {
    const auto& [op, core] = key;
    ASSERT_TRUE(rows.contains(op)) << op;
    const std::string column = "pcycles_core_" + core.substr(1) + "_cycles_share_of_core";
    EXPECT_NEAR(rows[op].at(column).get<double>() * 100, sum.first, 0.005 * sum.second + 1e-9)
        << op << " " << core;
  }
}

// Rows of one kernel with operands in DDR and in TCM were one; engine and cores were not shown.
TEST_F(Ops, OfASummaryAloneTellMemoryEngineAndCores) {
  const Outcome outcome = run_npuscope({"ops", "--json", real_summary()});
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  const auto json = nlohmann::json::parse(outcome.output);
  std::map<std::string, nlohmann::json> rows;
  for (const auto& row : json.at("profiles")[0].at("ops").at("rows")) {
    rows[row.at("op").get<std::string>()] = row;
  }
  for (const char* memory : {"DDR", "TCM"}) {
    const auto& row = rows[std::string("aicgather HVX ") + memory];
    EXPECT_EQ(row.at("kind"), "aicgather");
    EXPECT_EQ(row.at("on"), "HVX");
    EXPECT_EQ(row.at("cores"), 2);
    EXPECT_EQ(row.at("count"), 2);
  }
  EXPECT_EQ(rows["aicgather HVX DDR"].at("core_work_most"), 935);
  EXPECT_EQ(rows["aicgather HVX DDR"].at("most_loaded_core"), "device 0 core 1");
  const Outcome by_core = run_npuscope({"ops", "--by", "core", "--json", real_summary()});
  ASSERT_EQ(by_core.status, 0) << by_core.errors;
  const auto cores = nlohmann::json::parse(by_core.output).at("profiles")[0].at("ops").at("rows");
  ASSERT_EQ(cores.size(), 2u);
  double count = 0;
  for (const auto& core : cores) count += core.at("count").get<double>();
  EXPECT_EQ(count, 653 + 1154 + 827 + 649 + 1154 + 824);  // ops of c0 and of c1
}

TEST_F(Ops, UnitsPrintsAWholePage) {
  const Outcome outcome = run_npuscope({"units", path("trace.json")});
  EXPECT_EQ(outcome.errors, "");
  EXPECT_EQ(outcome.output, path("trace.json") + R"(
  wall        200.0 us
  active      150.0 us
  work        150.0 us
  parallelism 1
  wall is the first start to the last end, active the time in which any unit worked, work the sum
  over units; parallelism is work by active.

UNITS
  unit             spans      busy  of wall  DMA wait  of wall  sync  barrier      idle  of wall
  server > worker      3  150.0 us   75.0 %         0    0.0 %     0        0  50.00 us   25.0 %
  busy, waits and idle add up to the wall. A wait counts where the unit does not work; where several
  waits overlap, for DMA before sync before barrier. idle is what no span covers.

HARDWARE
  class   units    domain  of wall    active      work  confidence  busiest unit
  thread      1  150.0 us   75.0 %  150.0 us  150.0 us  one sample  server > worker
  domain is the busiest unit of the class, which bounds it; active, the time in which any of its
  units worked; work, their sum. An op counts for the class that it uses, not for the lane that it
  is drawn on.

CONCURRENCY
  average while active 1
  max                  1
  units      time  of wall
      0  50.00 us   25.0 %
      1  150.0 us   75.0 %

  some columns hidden in UNITS; --width 114 shows all
)");
}

TEST_F(Ops, AsJsonAndCsvSayTheSame) {
  const Outcome json = run_npuscope({"ops", "--json", "--by", "kind", path("trace.json")});
  EXPECT_EQ(json.status, 0) << json.errors;
  const auto rows = nlohmann::json::parse(json.output)["profiles"][0]["ops"]["rows"];
  EXPECT_EQ(rows[0]["kind"], "user");
  EXPECT_EQ(rows[0]["work"], 100'000);
  const Outcome csv = run_npuscope(
      {"ops", "--csv", "--by", "kind", "--columns=work", "--top=1", path("trace.json")});
  EXPECT_EQ(csv.output, "kind,work\nuser,100000\n");
}

TEST_F(Ops, KeepsRowsOfTheShareAskedFor) {
  const Outcome outcome =
      run_npuscope({"ops", "--csv", "--columns=work", "--min-share", "40%", path("trace.json")});
  EXPECT_EQ(outcome.output, "op,work\nstep,100000\n");
}

TEST_F(Ops, GroupsByTheUsersRules) {
  const std::string rules = path("mine.toml");
  std::ofstream(rules) << "[[rule]]\nname = 'products'\nop = '^matmul$'\n";
  const Outcome outcome =
      run_npuscope({"ops", "--csv", "--columns=work", "--rules", rules, path("trace.json")});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(outcome.output, "rule,work\n(no rule),100000\nproducts,50000\n");
}

TEST_F(Ops, BadRequestsAreOneSentence) {
  const std::string rules = path("broken.toml");
  std::ofstream(rules) << "[[rule]]\nname = 'a'\nany = '('\n";
  const std::pair<std::vector<std::string>, const char*> requests[] = {
      {{"ops", path("trace.json"), "--sort", "luck"}, "no column 'luck' to sort by"},
      {{"ops", path("trace.json"), "--columns", "luck"}, "no column 'luck'"},
      {{"ops", path("trace.json"), "--by", "luck"}, "'luck' is unknown; use"},
      {{"ops", path("trace.json"), "--min-share", "luck"}, "--min-share"},
      {{"ops", path("trace.json"), "--rules", "luck"},
       "use one of: bookkeeping, kernels, operators, transformer"},
      {{"ops", path("trace.json"), "--rules", rules}, "broken.toml:3"},
      {{"ops", path("trace.json"), "--rules", "transformer", "--by", "kind"}, "leave out --by"},
      {{"ops", path("trace.json"), "--inference", "3"}, "does not say which inference"},
      {{"units", path("trace.json"), "--by", "luck"}, "'luck' is unknown; use"},
      {{"units", path("trace.json"), "--op", "["}, "--op"}};
  for (const auto& [arguments, sentence] : requests) {
    const Outcome outcome = run_npuscope(arguments);
    EXPECT_EQ(outcome.status, 2) << sentence;
    EXPECT_THAT(outcome.errors, HasSubstr(sentence));
    EXPECT_EQ(outcome.output, "");
  }
  EXPECT_EQ(run_npuscope({"ops", path("trace.json"), "--rules", path("none.toml")}).status, 3);
  EXPECT_EQ(run_npuscope({"units", path("none.json")}).status, 3);
}

TEST_F(Ops, UnitsSaysHowBusyTheyWere) {
  const Outcome outcome = run_npuscope({"units", path("trace.json")});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("server > worker"));
  const Outcome json = run_npuscope({"units", "--json", path("trace.json")});
  const auto page = nlohmann::json::parse(json.output)["profiles"][0];
  EXPECT_EQ(page["wall"]["wall"], 200'000);
  EXPECT_EQ(page["units"]["rows"][0]["busy_share_of_wall"], 0.75);
  EXPECT_EQ(page["units"]["rows"][0]["idle"], 50'000);
  EXPECT_EQ(page["concurrency"]["rows"][0]["time"], 50'000);
}

}  // namespace
}  // namespace npuscope::cli::ops_test
