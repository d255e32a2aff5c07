// The program's answers about ../shared/data/public_cases; the tests are skipped where it is not.
//
//   TEST_F(PublicCases, OpenvinoDmaAllZero) {
//     EXPECT_EQ(wall("25-openvino-dma-all-zero/profiling.json"), 290'500);
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace npuscope::cli::test_support {

struct PublicCases : testing::Test {
  void SetUp() override {
    if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  }

  const std::string folder = NPUSCOPE_SHARED_DIR "/data/public_cases/";

  nlohmann::json ask(const char* command, const std::string& file,
                     std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{command, "--json", folder + file};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run_npuscope(arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    const nlohmann::json page = nlohmann::json::parse(outcome.output, nullptr, false);
    return page.is_object() && page.contains("profiles") ? page["profiles"][0] : nlohmann::json();
  }

  // Of two files of one folder.
  nlohmann::json diff(const std::string& in, const char* a, const char* b) const {
    const Outcome outcome = run_npuscope({"diff", "--json", folder + in + a, folder + in + b});
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    return nlohmann::json::parse(outcome.output, nullptr, false);
  }

  // A number of each op, in ns.
  nlohmann::json ops(const std::string& file, const char* number = "work") const {
    const nlohmann::json page = ask("ops", file, {"--by", "name"});
    nlohmann::json by_name = nlohmann::json::object();
    for (const nlohmann::json& row : page["ops"]["rows"]) {
      by_name[row["name"].get<std::string>()] = row[number];
    }
    return by_name;
  }

  double wall(const std::string& file) const {
    return ask("ops", file, {"--by", "name"})["ops"]["wall"].get<double>();
  }

  std::string show(const std::string& file) const {
    const Outcome outcome = run_npuscope({"show", "--full", folder + file});
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    return outcome.output;
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

}  // namespace npuscope::cli::test_support
