// A selection says what is shown; it never changes what an op is.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "cli/trace_folder.hpp"

namespace npuscope::cli::selection_test {
namespace {

using nlohmann::json;

struct ASelection : TraceFolder {
  std::string written(const std::string& name, const std::string& text) const {
    write(name, text);
    return path(name);
  }
};

json rows(const std::string& file, std::vector<std::string> more) {
  std::vector<std::string> arguments{"ops", "--by", "name", "--json", file};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Outcome outcome = run_npuscope(arguments);
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  json by_name = json::object();
  const json page = json::parse(outcome.output);
  for (const json& row : page["profiles"][0]["ops"]["rows"]) {
    by_name[row["name"].get<std::string>()] = row;
  }
  return by_name;
}

double work(const json& rows, const char* name) { return rows.at(name).at("work").get<double>(); }

const char* const child_first = R"({"traceEvents":[
  {"ph":"X","pid":1,"tid":1,"ts":10,"dur":80,"name":"inner"},
  {"ph":"X","pid":1,"tid":1,"ts":0,"dur":100,"name":"outer"}]})";

TEST_F(ASelection, OfAWindowKeepsTheNestingOfAChildThatStandsBeforeItsParent) {
  const std::string file = written("child_first.json", child_first);
  const json whole = rows(file, {});
  EXPECT_EQ(work(whole, "inner"), 80'000);
  EXPECT_EQ(work(whole, "outer"), 20'000);
  const json window = rows(file, {"--from", "20us", "--to", "80us"});
  EXPECT_EQ(work(window, "inner"), 60'000);
  EXPECT_EQ(work(window, "outer"), 0);
}

TEST_F(ASelection, OfAWindowKeepsAWaitWithinWork) {
  const std::string file = written("wait_first.json", R"({"traceEvents":[
    {"ph":"X","pid":1,"tid":1,"ts":10,"dur":80,"cat":"cuda_runtime","name":"cudaDeviceSynchronize"},
    {"ph":"X","pid":1,"tid":1,"ts":0,"dur":100,"cat":"cpu_op","name":"aten::item"}]})");
  const json window = rows(file, {"--from", "20us", "--to", "80us"});
  EXPECT_EQ(work(window, "aten::item"), 0);
  EXPECT_EQ(window.at("cudaDeviceSynchronize").at("waiting"), 60'000);
}

TEST_F(ASelection, OfOneOpDoesNotGiveItTheTimeOfWhatItEncloses) {
  const std::string file = written("child_first.json", child_first);
  EXPECT_EQ(work(rows(file, {"--op", "^outer$"}), "outer"), 20'000);
  const json both = rows(file, {"--op", "^outer$", "--from", "5us", "--to", "80us"});
  EXPECT_EQ(work(both, "outer"), 5'000);
  const Outcome units = run_npuscope(
      {"query", "--csv", file, "--op", "^outer$", "--sql", "SELECT own_duration FROM spans"});
  EXPECT_EQ(units.output, "own_duration\n20000\n") << units.errors;
}

}  // namespace
}  // namespace npuscope::cli::selection_test
