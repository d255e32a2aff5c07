// npuscope fleet, as a user types it.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/program.hpp"
#include "cli/trace_folder.hpp"

namespace npuscope::cli::fleet_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

class FleetCommand : public TraceFolder {
 protected:
  // A run of two ops: "a" takes `microseconds`.
  std::string trace(const std::string& name, int microseconds) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name))
        << R"({"traceEvents":[{"ph":"X","pid":1,"tid":1,"name":"a","ts":0,"dur":)" << microseconds
        << R"(},{"ph":"X","pid":1,"tid":1,"name":"b","ts":500,"dur":5}]})";
    return path(name);
  }
  Outcome fleet(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "fleet");
    return run_npuscope(arguments);
  }
  json fleet_json(std::vector<std::string> arguments) const {
    arguments.push_back("--json");
    const Outcome outcome = fleet(std::move(arguments));
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    return outcome.status == 0 ? json::parse(outcome.output) : json{};
  }
  std::string store() const { return path("fleet.db"); }
};

TEST_F(FleetCommand, AddsOnceAndAnswers) {
  trace("runs/1/a.json", 100), trace("runs/2/b.json", 110), trace("runs/3/c.json", 300);
  json added = fleet_json({"add", store(), path("runs"), "--tag", "build=17"});
  EXPECT_EQ(added["added"]["runs"], 3);
  EXPECT_EQ(added["added"]["sets"], 3);
  added = fleet_json({"add", store(), path("runs"), "--tag", "build=17"});
  EXPECT_EQ(added["added"]["runs"], 0);
  EXPECT_EQ(added["added"]["known"], 3);
  EXPECT_EQ(fleet_json({"ls", store()})["contents"]["op_runs"], 6);
  const json ops = fleet_json({"ops", store(), "--where", "build = 17"});
  EXPECT_EQ(ops["ops"]["rows"][0]["name"], "a");
  EXPECT_EQ(ops["ops"]["rows"][0]["runs"], 3);
  const json sql = fleet_json({"sql", store(), "SELECT count(*) AS n FROM op_runs"});
  EXPECT_EQ(sql["rows"][0]["n"], 6);
}

// A run is its content: not where it lies, what it is called, or whether it is compressed.
TEST_F(FleetCommand, KnowsARunByItsContent) {
  const std::string file = trace("a.json", 100);
  fs::create_directories(path("copy"));
  fs::copy_file(file, path("copy/other.json"));
  ASSERT_EQ(std::system(fmt::format("gzip -kc {} > {}", file, path("copy/third.json.gz")).c_str()),
            0);
  const json added = fleet_json({"add", store(), file, path("copy")});
  EXPECT_EQ(added["added"]["runs"], 1);
  EXPECT_EQ(added["added"]["known"], 2);
}

TEST_F(FleetCommand, GoesOnPastFilesThatAreNone) {
  trace("runs/a.json", 100);
  std::ofstream(path("runs/broken.json")) << "{\"traceEvents\":[{\"ph\":";
  std::ofstream(path("empty.json"));
  const Outcome outcome = fleet({"add", store(), path("runs"), path("empty.json")});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.errors, HasSubstr("empty.json"));
  EXPECT_EQ(fleet_json({"sql", store(),
                        "SELECT count(*) AS n FROM runs WHERE damaged = 0"})["rows"][0]["n"],
            1);
  EXPECT_EQ(fleet({"add", store(), path("empty.json"), trace("b.json", 7), "--keep-going"}).status,
            0);
}

TEST_F(FleetCommand, MakesNoStoreOfNothing) {
  const Outcome outcome = fleet({"add", store(), path("missing.json")});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.errors, HasSubstr("missing.json: no such file or folder"));
  EXPECT_FALSE(fs::exists(store()));
  EXPECT_EQ(fleet({"ls", store()}).status, 3);
  EXPECT_FALSE(fs::exists(store()));
}

// A forgotten STORE must not cost a trace.
TEST_F(FleetCommand, WritesIntoNothingThatIsNoStore) {
  const std::string a = trace("a.json", 1), b = trace("b.json", 2);
  const auto size = fs::file_size(a);
  const Outcome outcome = fleet({"add", a, b});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.errors, HasSubstr("not a fleet's store"));
  EXPECT_EQ(fs::file_size(a), size);
}

TEST_F(FleetCommand, RetainsAndExports) {
  ASSERT_EQ(fleet({"add", store(), trace("a.json", 1), "--tag", "time=2020-01-01"}).status, 0);
  ASSERT_EQ(fleet({"add", store(), trace("b.json", 2), "--tag", "time=2040-01-01"}).status, 0);
  EXPECT_EQ(fleet_json({"retain", store(), "--older-than", "90d", "--dry-run"})["removed"]["runs"],
            1);
  EXPECT_EQ(fleet_json({"retain", store(), "--before", "2021-01-01"})["removed"]["runs"], 1);
  EXPECT_EQ(fleet({"retain", store()}).status, 2);
  EXPECT_EQ(fleet({"retain", store(), "--older-than", "soon"}).status, 2);
  EXPECT_EQ(fleet({"export", store(), "-o", path("copy.db")}).status, 0);
  EXPECT_EQ(fleet_json({"ls", path("copy.db")})["fleet"]["runs"], 1);
  EXPECT_EQ(fleet({"export", store(), "-o", path("tables")}).status, 0);
  std::ifstream csv(path("tables/ops.csv"));
  std::string head;
  std::getline(csv, head);
  EXPECT_EQ(head, "id,name,kind");
  EXPECT_EQ(fleet({"export", store(), "-o", store()}).status, 2);
}

TEST_F(FleetCommand, ComparesTwoChoicesOfRuns) {
  for (int run = 0; run < 12; ++run) {
    const std::string build = fmt::format("build={}", run < 6 ? 1 : 2);
    const std::string name = fmt::format("{}.json", run);
    ASSERT_EQ(fleet({"add", store(), trace(name, (run < 6 ? 300 : 400) + run % 6), "--tag", build})
                  .status,
              0);
  }
  const json answer =
      fleet_json({"diff", store(), "--where-a", "build = 1", "--where-b", "build = 2"});
  EXPECT_EQ(answer["fleet"]["runs_a"], 6);
  EXPECT_EQ(answer["fleet"]["runs_b"], 6);
  EXPECT_EQ(answer["fleet"]["slower"], 1);
  const auto& slower = answer["changes"]["rows"][1];
  EXPECT_EQ(slower["name"], "a");
  EXPECT_EQ(slower["change"], "slower");
  EXPECT_NEAR(slower["relative"].get<double>(), 100 / 302.5, 1e-9);
  // It named flags that there are not.
  const Outcome one_side = fleet({"diff", store(), "--where-a", "build = 1"});
  EXPECT_EQ(one_side.status, 2);
  EXPECT_THAT(one_side.errors, HasSubstr("--where-a 'build = 16' --where-b"));
}

TEST_F(FleetCommand, ExportsTheRunsThatAreChosen) {
  ASSERT_EQ(fleet({"add", store(), trace("a.json", 1), "--tag", "build=1"}).status, 0);
  ASSERT_EQ(fleet({"add", store(), trace("b.json", 2), "--tag", "build=2"}).status, 0);
  for (const char* output : {"copy.db", "tables"}) {
    ASSERT_EQ(fleet({"export", store(), "-o", path(output), "--where", "build = 2"}).status, 0);
  }
  const json listing = fleet_json({"ls", path("copy.db"), "--by", "build"});
  ASSERT_EQ(listing["groups"]["rows"].size(), 1u);
  EXPECT_EQ(listing["groups"]["rows"][0]["by_build"], "2");
  const std::string runs = read("tables/runs.csv"), tags = read("tables/tags.csv");
  EXPECT_EQ(std::count(runs.begin(), runs.end(), '\n'), 2);
  EXPECT_THAT(runs, HasSubstr("b.json"));
  EXPECT_EQ(std::count(tags.begin(), tags.end(), '\n'), 2);
  EXPECT_EQ(fleet({"export", store(), "-o", path("no"), "--where", "nope = 2"}).status, 2);
}

// Each page is what its command prints.
TEST_F(FleetCommand, ReportShowsWhatTheCommandsPrint) {
  for (int build = 1; build <= 6; ++build) {
    for (const char* device : {"a", "b"}) {
      const std::string file = fmt::format("runs/{}{}.json", build, device);
      trace(file, 100 * build + (*device == 'b' ? 5 : 0));
      fleet({"add", store(), path(file), "--tag", fmt::format("build={}", build), "--tag",
             fmt::format("device={}", device)});
    }
  }
  const Outcome outcome = run_npuscope({"report", store(), "--json", "--where", "build > 1"});
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  const json fleet_tab = json::parse(outcome.output)["fleet"];
  EXPECT_EQ(fleet_tab["store"], store());
  EXPECT_EQ(fleet_tab["where"], "build > 1");
  EXPECT_EQ(fleet_tab["missing"], json::array());
  std::vector<std::string> questions;
  for (const json& page : fleet_tab["pages"]) {
    const std::string command = page["command"];
    std::vector<std::string> words{"--json", "--where", "build > 1"};
    std::istringstream rest(command.substr(std::string("npuscope fleet ").size()));
    std::string question, word, skipped;
    rest >> question >> skipped >> skipped >> skipped >> skipped >>
        skipped;  // STORE --where "build > 1"
    questions.push_back(question);
    words.insert(words.begin(), {"fleet", question, store()});
    while (rest >> word) words.push_back(word);
    const Outcome said = run_npuscope(words);
    ASSERT_EQ(said.status, 0) << command << ": " << said.errors;
    const json printed = json::parse(said.output);
    for (const auto& [key, section] : page["values"].items()) {
      EXPECT_EQ(section, printed[key]) << command << ": " << key;
    }
  }
  EXPECT_THAT(questions, testing::ElementsAre("ls", "latency", "latency", "outliers", "diff", "ops",
                                              "findings"));
}

TEST_F(FleetCommand, ReportHasAStoreNextToProfiles) {
  trace("a.json", 100), trace("b.json", 110);
  fleet({"add", store(), path("a.json")});
  const Outcome both = run_npuscope({"report", store(), path("b.json"), "--json"});
  ASSERT_EQ(both.status, 0) << both.errors;
  const json report = json::parse(both.output);
  EXPECT_EQ(report["profiles"].size(), 1);
  EXPECT_EQ(report["fleet"]["pages"][0]["values"]["fleet"]["runs"], 1);
  EXPECT_EQ(json::parse(run_npuscope({"report", path("b.json"), "--json"}).output)["fleet"],
            nullptr);
  const Outcome no_store = run_npuscope({"report", path("b.json"), "--where", "build = 1"});
  EXPECT_EQ(no_store.status, 2);
  EXPECT_THAT(no_store.errors, HasSubstr("name one"));
  fleet({"export", store(), "-o", path("copy.db")});
  const Outcome two = run_npuscope({"report", store(), path("copy.db"), "--json"});
  EXPECT_EQ(two.status, 2);
  EXPECT_THAT(two.errors, HasSubstr("two stores; a report has one"));
}

TEST_F(FleetCommand, ExportsParquetFiles) {
  trace("a.json", 100);
  fleet({"add", store(), path("a.json")});
  const json exported = fleet_json({"export", store(), "-o", path("tables"), "--to", "parquet"});
  EXPECT_EQ(exported["written"]["files"], 12);
  for (const auto& each : fs::directory_iterator(path("tables"))) {
    std::ifstream in(each.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    EXPECT_EQ(bytes.substr(0, 4), "PAR1") << each.path();
    EXPECT_EQ(bytes.substr(bytes.size() - 4), "PAR1") << each.path();
    EXPECT_EQ(each.path().extension(), ".parquet");
  }
  EXPECT_TRUE(fs::exists(path("tables/op_runs.parquet")));
}

}  // namespace
}  // namespace npuscope::cli::fleet_test
