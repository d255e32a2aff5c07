// What npuscope says of traces of PyTorch's profiler, against the raw events counted again.
#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/units/unit_busy.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/coarse.hpp"
#include "npuscope/analysis/findings.hpp"
#include "npuscope/analysis/traffic.hpp"
#include "npuscope/base/byte_source.hpp"
#include "npuscope/formats/open.hpp"

namespace npuscope::report::kineto_test {
namespace {

using analysis::Part;
using nlohmann::json;

std::string text_of(const std::filesystem::path& path) {
  const auto source = open_byte_source(path);
  std::string text, piece(1 << 16, '\0');
  while (const auto count = (*source)->read(piece)) {
    if (*count == 0) break;
    text.append(piece, 0, *count);
  }
  return text;
}

// Thousandths of microseconds, as exact as the text.
std::int64_t time_of(const json& number) { return std::llround(number.get<double>() * 1'000); }

// The trace as its events say it, without npuscope's tables and readers.
struct Twin {
  std::vector<Interval> device, seen;
  std::map<std::string, std::vector<Interval>> by_stream;
  std::map<std::string, std::int64_t> calls;  // own time by name, of calls without calls inside
  std::int64_t read = 0, written = 0;

  explicit Twin(const std::string& text) {
    const json events = json::parse(text)["traceEvents"];
    for (const json& event : events) {
      if (event["ph"] != "X") continue;
      const std::string category = event.value("cat", ""), name = event["name"];
      const std::int64_t begin = time_of(event["ts"]);
      const Interval at{begin, begin + time_of(event["dur"])};
      seen.push_back(at);
      static const std::set<std::string> on_device{"kernel", "gpu_memcpy", "gpu_memset"};
      const bool is_mark = name == "event_wait" || name == "event_record";
      if (on_device.contains(category) || (category == "mtia_ccp_events" && !is_mark)) {
        device.push_back(at);
        by_stream[event["pid"].dump() + "/" + event["tid"].dump()].push_back(at);
      }
      if (category == "cuda_runtime") calls[name] += length_of(at);
      const json arguments = event.value("args", json::object());
      if (name == "dma_request") {
        (arguments["direction"] == "HOST_TO_DEVICE" ? written : read) +=
            arguments["size"].get<std::int64_t>();
      }
    }
  }

  // By a count of what is open at each edge, not by npuscope's algebra.
  static std::int64_t covered(const std::vector<Interval>& intervals) {
    std::map<std::int64_t, int> edges;
    for (const Interval& each : intervals) {
      edges[each.begin] += 1;
      edges[each.end] -= 1;
    }
    std::int64_t length = 0, since = 0;
    int open = 0;
    for (const auto& [time, change] : edges) {
      if (open > 0) length += time - since;
      since = time;
      open += change;
    }
    return length;
  }
  std::int64_t wall() const {
    Interval all = seen.front();
    for (const Interval& each : seen) {
      all = {std::min(all.begin, each.begin), std::max(all.end, each.end)};
    }
    return length_of(all);
  }
};

Profile profile_of(const std::filesystem::path& path) {
  auto opened = open_profiles({&path, 1});
  EXPECT_TRUE(opened) << opened.error().message;
  return std::move(opened->profiles.at(0));
}

struct Looked {
  Profile profile;
  analysis::Analysis analysis;
  const analysis::Coarse& coarse;

  explicit Looked(const std::filesystem::path& path)
      : profile(profile_of(path)), analysis(profile), coarse(analysis.coarse()) {}

  std::int64_t part(Part part) const { return coarse.parts[std::size_t(part)]; }
  std::int64_t device() const {
    return part(Part::compute_alone) + part(Part::compute_and_movement) +
           part(Part::movement_alone) + part(Part::communication_alone);
  }
};

// Nanoseconds: a double of microseconds since boot is exact to a thousandth or two.
void expect_as_the_twin(const Looked& looked, const Twin& twin) {
  const auto within = [](std::int64_t value, std::int64_t expected, std::int64_t tolerance) {
    EXPECT_LE(std::abs(value - expected), tolerance) << value << " is not " << expected;
  };
  const auto spans = std::int64_t(looked.profile.spans.size());
  within(looked.coarse.wall, twin.wall(), 4);
  within(looked.device(), Twin::covered(twin.device), spans);
  std::multiset<std::int64_t> expected;
  for (const auto& [stream, intervals] : twin.by_stream) expected.insert(Twin::covered(intervals));
  std::multiset<std::int64_t> found;
  for (const auto& unit : looked.analysis.unit_busy()) {
    std::int64_t on_device = 0;
    for (const auto& of : unit.engines) {
      const bool is_host = of.engine == Engine::host || of.engine == Engine::thread;
      if (!is_host) on_device = length_of(unit.busy);
    }
    if (on_device > 0) found.insert(on_device);
  }
  ASSERT_EQ(found.size(), expected.size());
  for (auto a = found.begin(), b = expected.begin(); a != found.end(); ++a, ++b) {
    within(*a, *b, spans);
  }
}

TEST(Kineto, AnnotationsWereWork) {
  const std::filesystem::path path = NPUSCOPE_TEST_DATA "/chrome/kineto.json";
  const Looked looked(path);
  expect_as_the_twin(looked, Twin(text_of(path)));
  EXPECT_EQ(looked.coarse.wall, 1'000'000);
  EXPECT_EQ(looked.device(), 135'000);  // 20 + 25 + 5 + 15 + 70 us
  EXPECT_EQ(looked.part(Part::compute_alone), 30'000);
  EXPECT_EQ(looked.part(Part::movement_alone), 90'000);
  EXPECT_EQ(looked.part(Part::communication_alone), 15'000);
  // 60 and 600 us less 20, 25 and 5, 5 of aten::item before the copy; 25 after the wait.
  EXPECT_EQ(looked.part(Part::other_work), 0);
}

TEST(Kineto, AHostBoundTraceHadNoFinding) {
  const Looked looked(NPUSCOPE_TEST_DATA "/chrome/kineto.json");
  analysis::DiagnoseOptions options;
  options.only = "host-bound";
  const auto diagnosis = looked.analysis.findings(options);
  ASSERT_EQ(diagnosis.findings.size(), 1u);
  const analysis::Finding& finding = diagnosis.findings[0];
  EXPECT_EQ(finding.title, "Host bound: the device is idle for 86.5 % of the wall");
  double launches = 0;
  for (const auto& each : finding.evidence) {
    if (each.key == "runtime_call_work") {
      launches = std::max(launches, each.value);
    }
  }
  EXPECT_EQ(launches, 520'000);  // 500 + 10 + 10 us of cudaLaunchKernel
}

TEST(Kineto, BytesOfCopiesAreTraffic) {
  const Looked looked(NPUSCOPE_TEST_DATA "/chrome/kineto.json");
  const analysis::OpTraffic traffic(looked.profile);
  EXPECT_EQ(traffic.total(analysis::Route::ddr_write).of_ops, 4'096);
  EXPECT_EQ(traffic.total(analysis::Route::ddr_read).of_ops, 1'024);
}

TEST(Kineto, EventsOfMtiaAreCopiesWaitsAndJobs) {
  const std::filesystem::path path = NPUSCOPE_TEST_DATA "/chrome/mtia.json";
  const Looked looked(path);
  const Twin twin(text_of(path));
  expect_as_the_twin(looked, twin);
  const analysis::OpTraffic traffic(looked.profile);
  EXPECT_EQ(traffic.total(analysis::Route::ddr_write).of_ops, twin.written);
  EXPECT_EQ(traffic.total(analysis::Route::ddr_read).of_ops, twin.read);
  EXPECT_EQ(std::count_if(looked.profile.flows.begin(), looked.profile.flows.end(),
                          [](const Flow& flow) { return flow.kind == EdgeKind::order; }),
            1);
}

struct KinetoSamples : ::testing::TestWithParam<const char*> {
  std::filesystem::path path =
      std::filesystem::path(NPUSCOPE_SHARED_DIR) / "data/chrome" / GetParam();

  void SetUp() override {
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "the shared samples are not here";
  }
};

TEST_P(KinetoSamples, DevicesAreAsBusyAsTheirEventsSay) {
  expect_as_the_twin(Looked(path), Twin(text_of(path)));
}

INSTANTIATE_TEST_SUITE_P(All, KinetoSamples,
                         ::testing::Values("mi250_minitoy_train_ROCm6_2_kineto.json.gz",
                                           "mtia_inference_rank_0.json.gz",
                                           "triton_example.json.gz"));

struct Mi250 : ::testing::Test {
  std::filesystem::path path = std::filesystem::path(NPUSCOPE_SHARED_DIR) /
                               "data/chrome/mi250_minitoy_train_ROCm6_2_kineto.json.gz";

  void SetUp() override {
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "the shared samples are not here";
  }
};

TEST_F(Mi250, UnitsAtWorkWere100PercentAndNothingWasFound) {
  const Looked looked(path);
  EXPECT_EQ(looked.part(Part::other_work), 0);
  EXPECT_NEAR(double(looked.device()) / double(looked.coarse.wall), 0.015, 0.0005);
  const auto diagnosis = looked.analysis.findings();
  ASSERT_FALSE(diagnosis.findings.empty());
  EXPECT_EQ(diagnosis.findings[0].rule, "host-bound");
  EXPECT_EQ(diagnosis.findings[0].title, "Host bound: the device is idle for 98.5 % of the wall");
  const Twin twin(text_of(path));
  bool names_launches = false;
  for (const auto& each : diagnosis.findings[0].evidence) {
    if (each.key != "runtime_call_work" || each.of != "hipLaunchKernel") continue;
    names_launches = true;
    EXPECT_NEAR(each.value, double(twin.calls.at("hipLaunchKernel")), 20);
  }
  EXPECT_TRUE(names_launches);
}

TEST(Kineto, MtiaOfAProductionServiceHasItsBytesAndItsWaits) {
  const auto path =
      std::filesystem::path(NPUSCOPE_SHARED_DIR) / "data/chrome/mtia_inference_rank_0.json.gz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "the shared samples are not here";
  const Looked looked(path);
  const Twin twin(text_of(path));
  const analysis::OpTraffic traffic(looked.profile);
  EXPECT_EQ(traffic.total(analysis::Route::ddr_write).of_ops, twin.written);
  EXPECT_EQ(traffic.total(analysis::Route::ddr_read).of_ops, twin.read);
  EXPECT_EQ(twin.written + twin.read, 788'900'408);
  EXPECT_EQ(std::count_if(looked.profile.flows.begin(), looked.profile.flows.end(),
                          [](const Flow& flow) { return flow.kind == EdgeKind::order; }),
            48);  // each of its 48 waits
}

// step_trace_time.csv beside the trace has what Ascend's own tools make of it, in microseconds.
TEST(Ascend, ComputingAndCommunicationAreAsTheVendorCountsThem) {
  const auto path =
      std::filesystem::path(NPUSCOPE_SHARED_DIR) / "data/ascend/text_level1_rank0/trace_view.json";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "the shared samples are not here";
  Looked looked(path);
  EXPECT_NEAR(double(looked.coarse.compute_active), 8'873'756, 200);
  std::vector<Interval> communication;
  const Spans& spans = looked.profile.spans;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    if (spans.kind[row] == SpanKind::communication) {
      communication.push_back(interval_of(spans, row));
    }
  }
  EXPECT_NEAR(double(length_of(union_of(communication))), 105'991'878, 200);
}

}  // namespace
}  // namespace npuscope::report::kineto_test
