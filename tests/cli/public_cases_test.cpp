// What public reports of other tools showed: the numbers that are right, of small inputs of our own
// and of ../shared/data/public_cases where it is there.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/program.hpp"

namespace npuscope::cli::public_cases_test {
namespace {

using nlohmann::json;

struct PublicCases : testing::Test {
  void SetUp() override {
    if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  }

  const std::string folder = NPUSCOPE_SHARED_DIR "/data/public_cases/";

  json ask(const char* command, const std::string& file, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{command, "--json", folder + file};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run_npuscope(arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    const json page = json::parse(outcome.output, nullptr, false);
    return page.is_object() && page.contains("profiles") ? page["profiles"][0] : json();
  }

  // A number of each op, in ns.
  json ops(const std::string& file, const char* number = "work") const {
    const json page = ask("ops", file, {"--by", "name"});
    json by_name = json::object();
    for (const json& row : page["ops"]["rows"]) {
      by_name[row["name"].get<std::string>()] = row[number];
    }
    return by_name;
  }

  double wall(const std::string& file) const {
    return ask("ops", file, {"--by", "name"})["ops"]["wall"].get<double>();
  }

  std::string query(const std::string& file, const std::string& sql,
                    std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"query", "--csv", folder + file, "--sql", sql};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run_npuscope(arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    return outcome.output.substr(outcome.output.find('\n') + 1);
  }
};

TEST_F(PublicCases, ChildEndsAfterParent) {
  const std::string file = "22-child-ends-after-parent/off_by_one.json";
  const json work = ops(file);
  EXPECT_EQ(work.value("aten::linear", -1), 10'000);
  EXPECT_EQ(work.value("aten::addmm", -1), 491'000);
  double sum = 0;
  for (const auto& [name, of_op] : work.items()) sum += of_op.get<double>();
  EXPECT_EQ(sum, 602'000);
  EXPECT_EQ(wall(file), 1'000'000);
}

TEST_F(PublicCases, StepOverPythonSlice) {
  const std::string file = "42-step-over-python-slice/mini_step.json";
  EXPECT_EQ(ops(file, "span").value("step", -1), 2'900'000);
  EXPECT_EQ(ops(file, "active").value("step", -1), 2'700'000);
  EXPECT_EQ(ops(file).value("step", -1), 60'000);
  EXPECT_EQ(ops(file).value("work", -1), 2'640'000);
  EXPECT_EQ(wall(file), 2'926'000);
}

}  // namespace
}  // namespace npuscope::cli::public_cases_test
