#include "report/memory/memory_document.hpp"
#include "npuscope/analysis/analysis.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/memory/memory_builder.hpp"
#include "analysis/profile_builder.hpp"
#include "report/picture/xml_check.hpp"

namespace npuscope::report::memory_document_test {
namespace {

using npuscope::test_support::MemoryBuilder;
using ::testing::HasSubstr;

std::string expected(const std::string& name) {
  std::ifstream in(std::string(NPUSCOPE_TEST_DATA) + "/memory/" + name);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Two products at 1 GHz, the first bound by its weights; an activation goes to DDR and comes back.
// Inferences follow one another.
Profile small_run(std::uint32_t inferences = 1) {
  MemoryBuilder made("cycles", ClockKind::unit_cycles, 1e9);
  made.profile.provenance.files = {"run/trace.json"};
  made.profile.provenance.device = "HTP";
  const UnitId main = made.unit("main", Engine::other), hvx = made.unit("HVX", Engine::hvx);
  for (std::uint32_t inference = 0; inference < inferences; ++inference) {
    const std::int64_t t = 2100 * std::int64_t(inference);
    made.span(main, "MatMul_0", t, t + 800, SpanKind::op, "q::ConvLayer.opt.weights_to_vtcm");
    made.span(main, "MatMul_0", t + 800, t + 900, SpanKind::op, "q::ConvLayer_s1.opt");
    made.span(main, "MatMul_0", t + 900, t + 950, SpanKind::op, "@Spill");
    made.span(hvx, "Softmax_1", t + 850, t + 1000, SpanKind::op, "q::Softmax");
    made.span(main, "MatMul_2", t + 1000, t + 1050, SpanKind::op, "@Fill");
    made.span(main, "MatMul_2", t + 1050, t + 2000, SpanKind::op, "q::ConvLayer_s1.opt");
    if (inferences > 1) made.profile.spans.instance.resize(made.profile.spans.size(), inference);
  }
  const auto bytes_of_each = [&](const char* name, std::vector<std::int64_t> bytes) {
    std::vector<std::int64_t> all;
    for (std::uint32_t i = 0; i < inferences; ++i)
      all.insert(all.end(), bytes.begin(), bytes.end());
    made.bytes(name, all);
  };
  bytes_of_each("ddr read bytes", {8192, 0, 0, 0, 512, 0});
  bytes_of_each("ddr write bytes", {0, 0, 512, 0, 0, 0});
  bytes_of_each("vtcm read bytes", {0, 8192, 512, 256, 0, 8192});
  bytes_of_each("vtcm write bytes", {8192, 512, 0, 256, 512, 512});
  made.measure(Measure::Subject::profile, 0, "ddr read bytes", 8800 * inferences);
  made.measure(Measure::Subject::profile, 0, "ddr write bytes", 512 * inferences);
  made.measure(Measure::Subject::profile, 0, "peak VTCM bytes", 4'194'304);
  const auto engine = [&](std::uint32_t op, Engine of, const char* node) {
    made.profile.ops[op].engine = of;
    made.profile.ops[op].node = made.text(node);
    made.profile.ops[op].types = made.text("QUInt8");
  };
  engine(0, Engine::dma, "MatMul_0");
  engine(1, Engine::hmx, "MatMul_0");
  engine(2, Engine::dma, "MatMul_0");
  engine(3, Engine::hvx, "Softmax_1");
  engine(4, Engine::dma, "MatMul_2");
  engine(5, Engine::hmx, "MatMul_2");
  const auto weights = made.tensor("[128,64]", true);
  made.use(weights, OpId{0});
  made.use(made.tensor("[1,1,1,8192]", false, OpId{0}), OpId{1});
  made.use(weights, OpId{5});
  for (const std::uint32_t product : {1u, 5u}) {
    made.shape(made.profile.ops[product], "[1,8,16,128]");
  }
  made.profile.edges = {{OpId{2}, OpId{4}, EdgeKind::data}};
  return std::move(made.profile);
}

MemoryRequest request_with_peaks() {
  MemoryRequest request;
  request.peaks = {.ddr = "10GB/s", .macs = "1.2TMAC/s"};
  request.buckets = 20;
  return request;
}

std::string text_of(const Profile& profile, const MemoryRequest& request, std::size_t width) {
  const auto document = make_memory_document(analysis::Analysis(profile), request);
  EXPECT_TRUE(document) << document.error().message;
  return document_text(*document, width);
}

TEST(MemoryDocument, Whole) {
  EXPECT_EQ(text_of(small_run(), request_with_peaks(), 150), expected("small_run.txt"));
}

TEST(MemoryDocument, WithoutPeaksSaysWhatToGive) {
  const std::string text = text_of(small_run(), {}, 100);
  EXPECT_THAT(text, HasSubstr("verdict       unknown\n"));
  EXPECT_THAT(text, HasSubstr("No verdict without the hardware's peaks: give --target"));
  EXPECT_THAT(text, HasSubstr("--ddr-peak 77GB/s and --mac-peak 8.2TMAC/s"));
}

// Vela's DRAM bytes stood in `show --full`, of which `memory` said that there are none.
TEST(MemoryDocument, TotalsAloneAreSaidToBeThere) {
  MemoryBuilder made;
  made.span(made.unit("NPU", Engine::device), "a", 0, 5);
  made.profile.add_measure(Measure::Subject::profile, 0,
                           {"DRAM bytes moved", NumberQuantity::bytes}, Origin::estimated, {}, 512);
  const auto refused = make_memory_document(analysis::Analysis(made.profile), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "(no file): says of bytes what the whole has, which npuscope show --full lists, and "
            "not what an op moves");
}

TEST(MemoryDocument, WithoutBytesSaysHowToGetThem) {
  MemoryBuilder made;
  made.profile.provenance.platform = Provenance::Platform::cloud_ai_100;
  made.span(made.unit("HVX", Engine::hvx), "a", 0, 5);
  const auto of_aic = make_memory_document(analysis::Analysis(made.profile), {});
  ASSERT_FALSE(of_aic);
  EXPECT_EQ(of_aic.error().kind, ErrorKind::input);
  EXPECT_EQ(of_aic.error().message,
            "(no file): says nothing of bytes that were moved; compile with -ddr-stats for "
            "counters of DDR traffic (-stats-level=40 or more), with -stats-level=70 for the sizes "
            "of transfers, or read the compiler's estimate (-aic-perf-metrics)");
  const auto of_nothing = make_memory_document(analysis::Analysis(Profile()), {});
  ASSERT_FALSE(of_nothing);
  EXPECT_THAT(of_nothing.error().message, HasSubstr("names no bytes that npuscope understands"));
}

// "OPS, by DDR bytes" stood over rows without bytes, in the order in which the ops first ran.
TEST(MemoryDocument, WithoutBytesOpsAreByMacs) {
  MemoryBuilder made;
  const UnitId main = made.unit("main", Engine::other);
  for (const auto& [name, macs] : {std::pair{"small", 10.0}, {"none", 0.0}, {"large", 99.0}}) {
    const auto op = std::uint32_t(made.profile.ops.size());
    made.span(main, name, 10 * op, 10 * op + 5);
    if (macs > 0) {
      made.profile.add_measure(Measure::Subject::op, op, {"MACs", NumberQuantity::macs},
                               Origin::derived, {}, macs);
    }
  }
  const std::string text = text_of(made.profile, {}, 100);
  EXPECT_THAT(text, HasSubstr("OPS, by MACs\n"));
  EXPECT_LT(text.rfind("large"), text.rfind("small"));
  EXPECT_LT(text.rfind("small"), text.rfind("none"));
}

// "compute" was the verdict, and below it "No verdict without the hardware's peaks".
TEST(MemoryDocument, AVerdictOfBusyUnitsIsNotDeniedBelowIt) {
  test_support::ProfileBuilder made("cycles", ClockKind::unit_cycles, 1e9);
  made.profile.provenance.device = "HTP";
  made.span(made.unit("HVX", Engine::hvx), "Softmax_1", 0, 900, SpanKind::op, "q::Softmax");
  made.span(made.unit("main", Engine::other), "Load", 900, 1000);
  made.profile.measures.push_back({});
  Measure& total = made.profile.measures.back();
  total.subject = Measure::Subject::profile;
  total.what = made.text("ddr read bytes");
  total.value = 4096;
  total.meaning = test_support::meaning_of(total.kind, "ddr read bytes");
  const std::string text = text_of(made.profile, {}, 200);
  EXPECT_THAT(text, HasSubstr("compute: the arithmetic takes the time (HVX busy"));
  EXPECT_THAT(text,
              HasSubstr("The verdict rests on busy units alone, without the hardware's peaks"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("No verdict")));
}

// Bytes by the time of their issue looked like a bandwidth of 1,464 GB/s.
TEST(MemoryDocument, SaysThatSpansAreTheIssueOfTransfersWithoutPeaksToo) {
  const std::string text = text_of(small_run(), {}, 100);
  EXPECT_THAT(text, HasSubstr("DMA issue"));
  EXPECT_THAT(text, HasSubstr("A span here is the issue of a transfer"));
}

// Medians over inferences and sums over all of them stood side by side as if they were alike.
TEST(MemoryDocument, SaysWhatIsOverAllInferences) {
  Profile profile = small_run();
  Spans& spans = profile.spans;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    spans.instance.push_back(std::uint32_t(row % 2));
  }
  const auto document = make_memory_document(analysis::Analysis(profile), request_with_peaks());
  ASSERT_TRUE(document);
  for (const Section& section : document->sections) {
    const bool sums = section.key == "over_time" || section.key == "transfers" ||
                      section.key == "engines" || section.key == "spill";
    const auto& remarks = section.remarks;
    EXPECT_EQ(std::count(remarks.begin(), remarks.end(), "Over all inferences."), sums)
        << section.key;
  }
}

TEST(MemoryDocument, AColdRecordedSampleIsLabelledInItsVerdict) {
  Profile profile = small_run();
  profile.provenance.temperature = Provenance::Temperature::cold;
  profile.provenance.instrumentation = "optrace";
  EXPECT_THAT(text_of(profile, request_with_peaks(), 150), HasSubstr("structure only, compute:"));
}

TEST(MemoryDocument, AsJson) {
  const Profile profile = small_run();
  const auto document = make_memory_document(analysis::Analysis(profile), request_with_peaks());
  ASSERT_TRUE(document);
  const auto json = nlohmann::json::parse(documents_json({&*document, 1}, {}))["profiles"][0];
  EXPECT_EQ(json["roofline"]["wall"], 2000);
  EXPECT_EQ(json["roofline"]["ddr_share_of_peak"], (8800 + 512) / 10.0 / 2000);
  EXPECT_EQ(json["roofline"]["macs"], 2.0 * 8 * 16 * 128 * 64);
  EXPECT_EQ(json["traffic"]["rows"][0]["difference_bytes"], 96);
  EXPECT_EQ(json["ops"]["rows"][0]["op"], "MatMul_0");
  EXPECT_EQ(json["ops"]["rows"][0]["ddr_write_bytes"], 512);
  EXPECT_EQ(json["over_time"]["rows"].size(), 20u);
  EXPECT_EQ(json["spill"]["rows"][1]["ddr_bytes"], 512);
  EXPECT_EQ(json["spill"]["tensors"]["rows"][0]["away"], 50);
}

TEST(Peaks, AreReadWithTheirUnitsOrRefused) {
  const Profile profile;
  const auto ddr = [&](const char* text) { return find_peaks(profile, {.ddr = text}); };
  EXPECT_EQ(ddr("137GB/s")->peaks.ddr_bytes_per_s, 137e9);
  EXPECT_EQ(ddr("1 GiB/s")->peaks.ddr_bytes_per_s, 1073741824.0);
  EXPECT_EQ(find_peaks(profile, {.macs = "16TOPS"})->peaks.macs_per_s, 8e12);
  EXPECT_EQ(find_peaks(profile, {.clock = "1.8GHz"})->clock->value, 1.8e9);
  for (const char* bad : {"137", "GB/s", "-1GB/s", "0GB/s", "nanGB/s", "infGB/s", "1e400GB/s",
                          "137gb/s", "137GB/s "}) {
    const auto found = ddr(bad);
    ASSERT_FALSE(found) << bad;
    EXPECT_EQ(found.error().kind, ErrorKind::usage);
    EXPECT_THAT(found.error().message, HasSubstr("--ddr-peak"));
  }
  EXPECT_EQ(find_peaks(profile, {.target = "htp-v99"}).error().kind, ErrorKind::usage);
}

TEST(Peaks, OfTheTargetThatHasTheFiguresOfTheHardware) {
  Profile profile;
  profile.provenance.target = "aic100";
  EXPECT_EQ(find_peaks(profile, {})->peaks.ddr_bytes_per_s, 137e9);
  EXPECT_EQ(find_peaks(profile, {.ddr = "1GB/s"})->peaks.source, "target aic100, --ddr-peak");
  profile.provenance.target = "ipu-muffin";
  EXPECT_DOUBLE_EQ(*find_peaks(profile, {})->peaks.ddr_bytes_per_s, 14.9e9 * 0.7);
  EXPECT_EQ(find_peaks(profile, {.target = "ipu-muffin"})->peaks.macs_per_cycle[0], 1024);
  profile.provenance.target = "";  // an HTP: of which version?
  EXPECT_FALSE(find_peaks(profile, {})->peaks.ddr_bytes_per_s);
}

TEST(MemorySvg, HasTheRooflineAndTheTrafficOverTime) {
  const Profile profile = small_run();
  const auto svg = memory_svg(analysis::Analysis(profile), request_with_peaks(), {});
  ASSERT_TRUE(svg) << svg.error().message;
  EXPECT_EQ(problem_in(*svg), "");
  for (const char* part : {">Memory</text>", ">MACs per byte of DDR traffic</text>",
                           ">peak 1.2 TMAC/s</text>", ">DDR read</text>", ">VTCM write</text>",
                           "<title>DDR read: 8.500 KiB in all</title>", ">time (cycles)</text>"}) {
    EXPECT_THAT(*svg, HasSubstr(part));
  }
  // As the page has it: MatMul_0 has 16 x 128 x 64 MACs, 8,192 bytes read and 512 written.
  EXPECT_THAT(*svg, HasSubstr("<title>MatMul_0: 120.5 MACs per byte, "));
}

TEST(MemorySvg, WithoutPeaksItSaysHowToNameThem) {
  const Profile profile = small_run();
  const auto svg = memory_svg(analysis::Analysis(profile), {}, {});
  ASSERT_TRUE(svg) << svg.error().message;
  EXPECT_THAT(*svg, HasSubstr("No verdict without the hardware&#39;s peaks"));
}

// The roofline's numbers were called those of one inference, and so were the bytes over time of
// all.
TEST(MemorySvg, EachPlotSaysOfWhichInferencesItIs) {
  const Profile three = small_run(3);
  const auto svg = memory_svg(analysis::Analysis(three), request_with_peaks(), {});
  ASSERT_TRUE(svg) << svg.error().message;
  EXPECT_THAT(*svg, HasSubstr(">one inference: the median of the 2 after the first</text>"));
  EXPECT_THAT(*svg, HasSubstr(">all 3 inferences together</text>"));
  EXPECT_THAT(*svg, HasSubstr("<title>DDR read: 25.50 KiB in all</title>"));
  EXPECT_THAT(*svg, HasSubstr("<title>MatMul_0: 120.5 MACs per byte, "));
}

TEST(MemorySvg, WithoutARooflineItSaysWhy) {
  Profile profile = small_run();
  for (Op& op : profile.ops) op.extents = {};
  const auto svg = memory_svg(analysis::Analysis(profile), request_with_peaks(), {});
  ASSERT_TRUE(svg) << svg.error().message;
  EXPECT_THAT(*svg, HasSubstr("No roofline: no op has MACs, bytes of DDR and a time."));
  EXPECT_THAT(*svg, HasSubstr("The MACs of the matrix work are not known"));
  EXPECT_THAT(*svg, HasSubstr(">Traffic over time</text>"));
}

TEST(MemorySvg, OfAProfileWithoutBytesThereIsNothingToDraw) {
  test_support::ProfileBuilder made;
  made.span(made.unit("HMX", Engine::hmx), "op", 0, 10);
  const auto svg = memory_svg(analysis::Analysis(made.profile), {}, {});
  ASSERT_FALSE(svg);
  EXPECT_THAT(svg.error().message, HasSubstr("says nothing of bytes that were moved"));
}

}  // namespace
}  // namespace npuscope::report::memory_document_test
