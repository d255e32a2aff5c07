// Logs beside debug information of their own model, of another one, and of a part of it.
#include "formats/torq/annotate/pairing.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include "formats/torq/files.hpp"
#include "formats/torq/overview.hpp"

namespace npuscope::torq::pairing_test {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view header = "dispatch_name,invocation_id,action_id,timestamp_us,event\n";

// A dispatch of `copies` host copies.
std::string dispatch_text(const std::string& name, int copies) {
  std::string text = "module {\n  func.func @" + name + "() {\n";
  for (int i = 0; i < copies; ++i) {
    text += "    torq_hl.host_copy %a : T to %b : T {\"torq-action-id\" = " + std::to_string(i) +
            " : i32}\n";
  }
  return text + "  }\n}\n";
}

// An invocation of it that takes ten microseconds a copy.
std::string invocation_text(const std::string& name, int id, int copies, int begin) {
  const std::string start = name + "," + std::to_string(id) + ",";
  std::string text = start + "-1," + std::to_string(begin) + ",DISPATCH_BEGIN\n";
  for (int i = 0; i < copies; ++i) {
    text += start + std::to_string(i) + "," + std::to_string(begin + 10 * i) + ",HOST_COPY_BEGIN\n";
    text +=
        start + std::to_string(i) + "," + std::to_string(begin + 10 * i + 10) + ",HOST_COPY_END\n";
  }
  return text + start + "-1," + std::to_string(begin + 10 * copies) + ",DISPATCH_END\n";
}

class PairingOf : public ::testing::Test {
 protected:
  PairingOf() {
    folder_ = fs::path(::testing::TempDir()) / ("torq_pairing_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  ~PairingOf() override { fs::remove_all(folder_); }

  void compile(const std::string& name, int copies) const {
    std::ofstream(folder_ / (name + ".mlir")) << dispatch_text(name, copies);
  }
  RuntimeLog log_of(const std::string& rows) const {
    const std::string text = std::string(header) + rows;
    const auto source = source_of(text);
    return std::move(*read_log(*source));
  }
  DebugInfo debug() const { return std::move(*load_debug_info(folder_)); }
  std::string error_of(const std::string& rows) const {
    const DebugInfo info = debug();
    const auto pairing = check_pairing(log_of(rows), info);
    if (pairing) return "";
    std::string message = pairing.error().message;
    for (auto at = message.find(folder_.string()); at != message.npos;
         at = message.find(folder_.string())) {
      message.erase(at, folder_.string().size() + 1);
    }
    return message;
  }

  fs::path folder_;
};

constexpr const char* other_model =
    "; the debug information is of another model or build; name that of the model that ran";

// The log of one model beside the debug information of another printed an overview, with status 0.
TEST_F(PairingOf, AnotherModelIsAnErrorAndNoOverview) {
  compile("a", 2);
  EXPECT_EQ(error_of(invocation_text("a", 1, 2, 0)), "");
  EXPECT_EQ(error_of(invocation_text("a", 1, 3, 0)),
            std::string("file: dispatch a logs HOST_COPY as action 2, which a.mlir does not have") +
                other_model);
  EXPECT_EQ(
      error_of("a,1,1,5,NSS_WAIT_BEGIN\n"),
      std::string("file: dispatch a logs NSS_WAIT as action 1, which is HOST_COPY in a.mlir") +
          other_model);
}

TEST_F(PairingOf, ADispatchThatEndsEarlyIsOfAnotherModel) {
  compile("a", 5);
  EXPECT_EQ(
      error_of(invocation_text("a", 1, 2, 0)),
      std::string("file: dispatch a ends after action 1, and a.mlir has 3 more") + other_model);
  // One lost pair at the end proves nothing, and a run that was cut off nothing at all.
  EXPECT_EQ(error_of(invocation_text("a", 1, 4, 0)), "");
  const std::string cut = invocation_text("a", 1, 2, 0);
  EXPECT_EQ(error_of(cut.substr(0, cut.find("a,1,-1,20"))), "");
}

// Programs of actions 0 and 1, 2 and 3 … on the host.
std::string programs_text(const std::string& name, int programs) {
  std::string text = "module {\n  func.func @" + name + "() {\n";
  for (int i = 0; i < programs; ++i) {
    const std::string value = "%p" + std::to_string(i);
    const auto action = [&](int id) {
      return " {\"torq-action-id\" = " + std::to_string(id) + " : i32}\n";
    };
    text += "    " + value + ", " + value +
            "_code = torq_hl.descriptor \"program\" : !torq_hl.invocation<nss>, T\n";
    text += "    torq_hl.start_program " + value + " : !torq_hl.invocation<nss>" + action(2 * i);
    text += "    torq_hl.wait_program " + value + " : !torq_hl.invocation<nss>" + action(2 * i + 1);
  }
  return text + "  }\n}\n";
}

std::string run_text(const std::string& name, int id, int programs) {
  const std::string start = name + "," + std::to_string(id) + ",";
  std::string text = start + "-1,0,DISPATCH_BEGIN\n";
  for (int i = 0; i < 2 * programs; ++i) {
    const std::string type = i % 2 == 0 ? "NSS_START" : "NSS_WAIT", action = std::to_string(i);
    text += start + action + "," + std::to_string(10 * i) + "," + type + "_BEGIN\n";
    text += start + action + "," + std::to_string(10 * i + 9) + "," + type + "_END\n";
  }
  return text + start + "-1,100,DISPATCH_END\n";
}

// A valid log that had lost the start and the wait of its last program was refused.
TEST_F(PairingOf, ALogThatLostItsLastProgramInEveryInferenceWasRefused) {
  for (const char* name : {"a", "b"}) {
    std::ofstream(folder_ / (std::string(name) + ".mlir")) << programs_text(name, 3);
  }
  const DebugInfo info = debug();
  const auto pairing =
      check_pairing(log_of(run_text("a", 1, 2) + run_text("a", 2, 2) + run_text("b", 3, 3)), info);
  ASSERT_TRUE(pairing) << pairing.error().message;
  ASSERT_EQ(pairing->notes.size(), 1u);
  EXPECT_THAT(pairing->notes[0].message, StartsWith("dispatch a ends before "));
  EXPECT_THAT(pairing->notes[0].message,
              EndsWith("in no sum: its start and its wait were lost, or the debug information is "
                       "of another build"));
  // A second dispatch that ends early, or two programs, are no coincidence.
  EXPECT_EQ(
      error_of(run_text("a", 1, 2) + run_text("b", 2, 2)),
      std::string("file: dispatch b ends after action 3, and b.mlir has 2 more") + other_model);
  EXPECT_EQ(
      error_of(run_text("a", 1, 1)),
      std::string("file: dispatch a ends after action 1, and a.mlir has 4 more") + other_model);
}

TEST_F(PairingOf, ModelsThatShareADispatchAreStillTwo) {
  compile("a", 2);
  compile("of_the_other", 1);
  const std::string message =
      error_of(invocation_text("a", 1, 2, 0) + invocation_text("mine", 2, 1, 50));
  EXPECT_EQ(message,
            std::string("file: 1 of its 2 dispatches have no debug information (the first: "
                        "mine), and of_the_other.mlir is of a dispatch that it does not "
                        "have") +
                other_model);
}

TEST_F(PairingOf, NoneOfTheDispatches) {
  compile("a", 2);
  EXPECT_EQ(error_of(invocation_text("b", 1, 2, 0)),
            "file: no debug information of dispatch b; name the folder of the model that "
            "ran");
}

TEST_F(PairingOf, OlderLogsAreCheckedToo) {
  compile("a", 2);
  const DebugInfo info = debug();
  const auto error = [&](std::string_view text) {
    const auto source = source_of(text);
    const auto log = read_log(*source);
    const auto pairing = check_pairing(*log, info);
    return pairing ? "" : pairing.error().message;
  };
  const std::string host = "actionIndex, elapsed_time(us), timestamp(us), event, location\n";
  EXPECT_EQ(error(host + "1,0,50,HOST_COPY_START,\n1,9,59,HOST_COPY_END,\n"), "");
  EXPECT_THAT(error(host + "1,0,50,NSS_START,\n"), HasSubstr("logs NSS_START as action 1"));
  EXPECT_THAT(error("id;time_since_open;time_since_start;location\n3;60;18;\n"),
              HasSubstr("logs job 3, and "));
}

// Part of a model: what it covers stands in the first line, and shares are of that.
TEST_F(PairingOf, APartSaysHowMuchItCovers) {
  compile("a", 2);
  const RuntimeLog log = log_of(invocation_text("a", 1, 2, 100) + invocation_text("b", 2, 6, 120) +
                                "__HAL_QUEUE_EXECUTE__,3,-1,90,HAL_CALL_BEGIN\n"
                                "__HAL_QUEUE_EXECUTE__,3,-1,190,HAL_CALL_END\n");
  const DebugInfo info = debug();
  const auto annotation = annotate(log, info);
  ASSERT_TRUE(annotation) << annotation.error().message;
  const std::string covers =
      "debug information of 1 of 2 dispatches: 20.0 % of the wall (20.000µs of 100.000µs)";
  EXPECT_EQ(coverage_text(annotation->pairing), covers);
  Overview overview = overview_of(*annotation);
  overview.model = "m";
  EXPECT_EQ(overview.of(OverviewMetric::overall), 20'000);
  EXPECT_EQ(overview.of(OverviewMetric::hal), 20'000);
  EXPECT_EQ(percent_of_overall(overview, OverviewMetric::host_copy), 100);
  const std::string text = print_overview(std::span(&overview, 1), OverviewStyle::documented);
  EXPECT_THAT(text, StartsWith("partial: m: " + covers + "; all shares are of that\n====="));
}

}  // namespace
}  // namespace npuscope::torq::pairing_test
