// The numbers of a run that summaries of QNN and Cloud AI 100 print: cases 01 to 03, 05, 08, 09 and
// 11 of ../shared/data/public_cases (expected.md), beside what public_cases_test.cpp of report has.
#include <gmock/gmock.h>

#include <map>

#include "cli/public_cases.hpp"

namespace npuscope::cli::public_number_cases_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class PublicNumberCases : public test_support::PublicCases {
 protected:
  struct Number {
    double first = -1, median_of_rest = -1;
  };

  // In the unit that the file prints; of the profile at this place of the page.
  std::map<std::string, Number> numbers(const std::string& file, std::size_t profile = 0) const {
    const json page = page_of(file);
    std::map<std::string, Number> all;
    for (const json& row : page["profiles"][profile]["numbers_of_run"]["rows"]) {
      const auto value = [&](const char* key) {
        return row[key].is_null() ? -1 : row[key].get<double>();
      };
      all[row["name"].get<std::string>()] = {value("first"), value("median_of_rest")};
    }
    return all;
  }

  json page_of(const std::string& file) const {
    return json::parse(run_npuscope({"show", "--json", folder + file}).output, nullptr, false);
  }

  std::vector<std::string> notes(const std::string& file) const {
    const json page = page_of(file);
    std::vector<std::string> all;
    for (const json& note : page["profiles"][0]["notes"]) all.push_back(note["message"]);
    return all;
  }
};

TEST_F(PublicNumberCases, EachGraphOfAViewersCsvHasItsOwn) {
  for (const char* in : {"01-qnn-viewer-csv-native", "02-qnn-viewer-csv-blanks-removed"}) {
    const std::string file = std::string(in) + "/profile.csv";
    const auto prompt = numbers(file, 0), token = numbers(file, 1);
    EXPECT_EQ(prompt.at("NetRun").first, 13'400) << in;
    EXPECT_EQ(prompt.at("NetRun").median_of_rest, 12'320) << in;
    EXPECT_EQ(prompt.at("Accelerator (execute excluding wait) time").median_of_rest, 11'660) << in;
    EXPECT_EQ(token.at("NetRun").first, 7'700) << in;
    EXPECT_EQ(token.at("NetRun").median_of_rest, 7'270) << in;
    EXPECT_EQ(token.at("Accelerator (execute excluding wait) time").median_of_rest, 6'610) << in;
    EXPECT_THAT(page_of(file)["profiles"][1]["about"]["version"].get<std::string>(),
                HasSubstr("2.45.40"));
  }
}

TEST_F(PublicNumberCases, ASummaryOverExecutesIsNoPartOfTheDeInit) {
  const std::string file = "03-qnn-viewer-text-average/modern.txt";
  const auto all = numbers(file);
  EXPECT_EQ(all.at("QNN (execute) time, mean").first, 32'501);
  EXPECT_EQ(all.at("QNN (execute) time, min").first, 31'882);
  EXPECT_EQ(all.at("QNN (execute) time, max").first, 41'180);
  EXPECT_EQ(all.at("NetRun, mean").first, 32'519);
  EXPECT_EQ(all.at("Accelerator (execute excluding wait) time, mean").first, 31'520);
  EXPECT_EQ(all.at("Accelerator (execute) time (cycles), mean").first, 48'210'000);
  for (const auto& [name, number] : all) {
    EXPECT_FALSE(name.starts_with("De-Init") && name.find("execute") != name.npos) << name;
  }
  EXPECT_EQ(page_of(file)["profiles"][0]["latency"]["stated_inferences_per_second"], 21.5353);
}

TEST_F(PublicNumberCases, ASummaryOfAnOldViewer) {
  const std::string file = "03-qnn-viewer-text-average/qnn213_basic.txt";
  const auto all = numbers(file);
  EXPECT_EQ(all.at("QNN (execute) time, mean").first, 2'949);
  EXPECT_EQ(all.at("NetRun, mean").first, 2'952);
  EXPECT_EQ(all.at("Accelerator (execute) time, mean").first, 2'492);
  EXPECT_EQ(all.at("Finalize: QNN (finalize) time").first, 256'364);
  EXPECT_EQ(page_of(file)["profiles"][0]["latency"]["stated_inferences_per_second"], 214.8888);
}

TEST_F(PublicNumberCases, OfThirtyFiveExecutesTheFirstIsApart) {
  const std::string file = "05-ort-qnn-csv-8-columns/run.csv";
  const auto all = numbers(file);
  EXPECT_EQ(page_of(file)["profiles"][0]["about"]["inferences"], 35);
  EXPECT_EQ(all.at("RPC (execute) time").first, 90);
  EXPECT_EQ(all.at("RPC (execute) time").median_of_rest, 107.5);
}

TEST_F(PublicNumberCases, AReportOfQairtHasWaitsLeftOut) {
  const auto all = numbers("09-qairt-report-json/report.json");
  const Number waits = all.at("Accelerator (execute excluding wait) time");
  EXPECT_EQ(waits.first, 77);
  EXPECT_EQ(waits.median_of_rest, 69.5);
  EXPECT_EQ(all.at("BACKEND_CREATE_FROM_BINARY: QNN (load binary) time").first, 9'009);
}

// Idle is what no lane covers: 10 % of 50,000 cycles. The file's 60 % of Conv2d are of the cycles
// of all lanes; of the dominant path, by which ops are ranked, it states 66.67 %.
TEST_F(PublicNumberCases, AnEstimateIsInCyclesAlone) {
  const std::string file = "08-qhas-hextimate-time-zero/qhas_ok_zero_time.json";
  const auto all = numbers(file);
  EXPECT_EQ(all.at("graph wall").first, 50'000);
  EXPECT_EQ(all.at("cycles with any lane busy").first, 45'000);
  const std::string page = run_npuscope({"show", folder + file, "--width", "100"}).output;
  EXPECT_THAT(page, HasSubstr("graph 50,000 cycles"));
  EXPECT_THAT(page, testing::ContainsRegex("any lane busy [^ ]+ 90 %  idle [^ ]+ 10 %"));
  const json rows = ask("ops", file)["ops"]["rows"];
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["op"], "Conv2d nodes");
  EXPECT_EQ(rows[0]["cycles"], 30'000);
  EXPECT_EQ(rows[0]["cycles_share_of_all"], 0.6);
  EXPECT_EQ(rows[1]["cycles"], 20'000);
}

TEST_F(PublicNumberCases, AnEstimateWhoseRateIsNoNumberHasNone) {
  for (const char* name : {"Infinity", "inf", "nan_and_null", "ok_zero_time"}) {
    const std::string file = std::string("08-qhas-hextimate-time-zero/qhas_") + name + ".json";
    EXPECT_THAT(show(file), HasSubstr("estimated on the host")) << name;
    EXPECT_FALSE(page_of(file)["profiles"][0].contains("latency")) << name;
    const auto all = numbers(file);
    EXPECT_EQ(all.at("graph wall").first, 50'000) << name;
    for (const auto& [what, number] : all) {
      EXPECT_GE(number.first, 0) << what;
      EXPECT_THAT(what, Not(HasSubstr("per second"))) << name;
    }
  }
}

TEST_F(PublicNumberCases, AnEstimateThatIsCutSaysWhatStoodBefore) {
  const std::string file = "08-qhas-hextimate-time-zero/qhas_cut_at_value.json";
  const json page = page_of(file)["profiles"][0];
  EXPECT_EQ(page["partial"], true);
  EXPECT_THAT(notes(file), testing::Contains(HasSubstr("the file ends in the middle")));
  EXPECT_THAT(page.dump(), HasSubstr("HMX 256"));
  EXPECT_FALSE(page.contains("wall"));
}

TEST_F(PublicNumberCases, LatencySamplesSayWhyTheDeviceIsUnknown) {
  for (const char* name : {"aic-profiling-program-0-latency.txt", "unpadded.txt"}) {
    const std::string file = std::string("11-qaic-latency-no-device-columns/") + name;
    const json page = page_of(file)["profiles"][0];
    EXPECT_EQ(page["latency"]["warm_median_seconds"], 0.001059);
    EXPECT_EQ(page["wall"]["inference_min"], 1'010'000);
    EXPECT_EQ(page["wall"]["inference_max"], 1'108'000);
    EXPECT_EQ(query(file, "SELECT count(*), avg(duration) FROM spans"), "50,1059000\n");
    EXPECT_THAT(notes(file), testing::Contains(HasSubstr("compile the program with -stats-level")));
    EXPECT_THAT(notes(file), testing::Contains(HasSubstr("50 of 100 requested samples")));
    EXPECT_THAT(show(file), Not(HasSubstr("on the NPU")));
  }
}

}  // namespace
}  // namespace npuscope::cli::public_number_cases_test
