// The page of `npuscope show`, whole, for each sort of profile.
#include "report/show/show.hpp"
#include "npuscope/analysis/analysis.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/profile_builder.hpp"

namespace npuscope::report::show_test {
namespace {

using npuscope::test_support::ProfileBuilder;
using ::testing::HasSubstr;
using ::testing::Not;

// tests/data/show/NAME.txt; a mismatch leaves what was printed in the temporary folder.
void expect_page(const std::string& name, const Profile& profile, std::size_t width = 100,
                 std::size_t top = 10) {
  const std::string printed = page_text(make_page(analysis::Analysis(profile), {top}), width);
  std::stringstream expected;
  expected << std::ifstream(NPUSCOPE_TEST_DATA "/show/" + name + ".txt").rdbuf();
  if (expected.str() != printed) {
    std::ofstream(std::filesystem::temp_directory_path() / ("show-" + name + ".txt")) << printed;
  }
  EXPECT_EQ(printed, expected.str()) << "in " << name;
}

MeasureColumn& add_column(Profile& profile, std::string_view what, MeasureKind kind,
                          Origin origin = Origin::measured) {
  profile.spans.measures.push_back(
      {profile.strings.intern(what), kind, origin, profile.base_clock, {}});
  return profile.spans.measures.back();
}

// What an optrace set of three inferences gives: the ops of the first, the phases of all.
Profile htp_profile() {
  ProfileBuilder made("cycles of core 0", ClockKind::unit_cycles);
  Profile& profile = made.profile;
  profile.provenance = {.files = {"run/chrometrace.json", "run/chrometrace_runtrace.json"},
                        .format = "QNN HTP optrace",
                        .version = "1.1.0",
                        .device = "htp-v75",
                        .graph = "chain",
                        .instrumentation = "optrace",
                        .inferences = 3,
                        .temperature = Provenance::Temperature::cold};
  const UnitId core = made.unit("Core 0", Engine::core);
  const UnitId main = made.unit("HMX", Engine::hmx, core);
  const UnitId hvx0 = made.unit("HVX 0", Engine::hvx, core);
  const UnitId hvx1 = made.unit("HVX 1", Engine::hvx, core);
  made.span(main, "weights", 1'000, 3'000, SpanKind::op, "bias_to_vtcm");
  made.span(main, "weights", 3'000, 3'500, SpanKind::dma_wait, "bias_to_vtcm");
  made.span(main, "MatMul", 3'500, 9'500, SpanKind::op, "ConvLayer_s1.opt");
  made.span(hvx0, "Softmax", 8'500, 10'500, SpanKind::op, "Softmax");
  made.span(hvx1, "Softmax", 8'500, 10'000, SpanKind::op, "Softmax");
  profile.ops[0].engine = Engine::dma;
  auto& path = add_column(profile, "dominant path", MeasureKind::dominant_path);
  for (const std::int64_t cycles : {2'000, 500, 6'000, 1'000, 0}) path.values.push_back(cycles);
  auto& read = add_column(profile, "ddr read bytes", MeasureKind::count);
  for (const std::int64_t bytes : {65'536, 0, 0, 0, 0}) read.values.push_back(bytes);
  for (std::uint32_t inference = 0; inference < 3; ++inference) {
    const std::int64_t at = 50'000 * inference;
    const double microseconds = inference == 0 ? 20 : 10 + inference;
    made.phase("QNN DSP Execute", inference, at, at + 12'000, microseconds);
    made.phase("Graph Execute", inference, at + 900, at + 10'900, microseconds / 2);
  }
  profile.checks = {{"sum of dominant path + idle = timeline", Check::Outcome::passed, ""},
                    {"cycles used of each lane", Check::Outcome::failed, "8,500 is not 8,000"},
                    {"peak VTCM", Check::Outcome::impossible, "no QHAS file"}};
  profile.notes = {{Severity::info, "run/chrometrace.json", 0, "one event of two is a copy", 5},
                   {Severity::warning, "run/chrometrace.json", 812, "an unknown flag", 2}};
  return std::move(made.profile);
}

TEST(Show, AnHtpProfileByDominantPathPhasesAndHardware) { expect_page("htp", htp_profile()); }

TEST(Show, ANarrowTerminalLosesTheColumnsThatMatterLess) {
  expect_page("htp_narrow", htp_profile(), 60, 2);
}

// A trace of a framework: slices nest, nothing is known about hardware.
Profile nested_profile() {
  ProfileBuilder made("trace time", ClockKind::wall, 1e9);
  made.profile.provenance.files = {"trace.json"};
  made.profile.provenance.format = "Chrome trace";
  const UnitId process = made.unit("python", Engine::process);
  const UnitId thread = made.unit("main", Engine::thread, process);
  made.span(thread, "step", 0, 1'000'000, SpanKind::slice, "user");
  made.span(thread, "forward", 100'000, 700'000, SpanKind::slice, "user");
  made.span(thread, "matmul", 200'000, 600'000, SpanKind::slice, "kernel");
  made.span(thread, "step", 1'500'000, 2'000'000, SpanKind::slice, "user");
  made.span(process, "loaded", 50'000, 50'000, SpanKind::instant);
  return std::move(made.profile);
}

TEST(Show, NestedSlicesAreNotCountedTwice) { expect_page("nested", nested_profile()); }

TEST(Show, AnOpTableWithoutATimeline) {
  ProfileBuilder made("UTIMER", ClockKind::timer, 19.2e6);
  made.profile.provenance.files = {"net.summary.txt"};
  made.profile.provenance.format = "Cloud AI 100 summary";
  const auto ticks = made.text("work");
  for (const auto& [name, value] :
       {std::pair{"aicsoftmax", 19'200.0}, {"aicconvolutiond32", 960}}) {
    const OpId op = made.op(name, name);
    made.profile.measures.push_back({Measure::Subject::op, index_of(op), ticks, MeasureKind::work,
                                     Origin::measured, ClockId{}, value});
  }
  expect_page("op_table", made.profile);
}

// A summary: frames of whole inferences, and numbers of units.
Profile units_without_timeline() {
  ProfileBuilder made("UTIMER", ClockKind::timer, 19.2e6);
  made.profile.provenance.files = {"net.summary.txt"};
  const UnitId core = made.unit("core 0", Engine::core);
  const UnitId vector = made.unit("HVX", Engine::hvx, core);
  made.span(core, "", 0, 19'200, SpanKind::inference);
  made.span(vector, "", 0, 19'200, SpanKind::inference);
  made.profile.spans.processor_cycles = {1'466'702, 1'461'744};
  made.profile.spans.instance = {0, 0};
  const auto add = [&](UnitId unit, const char* what, MeasureKind kind, Origin origin,
                       double value) {
    made.profile.measures.push_back(
        {Measure::Subject::unit, index_of(unit), made.text(what), kind, origin, ClockId{}, value});
  };
  add(vector, "utilization percent", MeasureKind::count, Origin::measured, 5.89);
  add(vector, "sync wait", MeasureKind::work, Origin::measured, 960);
  add(core, "ddr read bytes", MeasureKind::count, Origin::counter, 65'536);
  return std::move(made.profile);
}

TEST(Show, UnitsWithoutATimelineByWhatTheFileSaysOfThem) {
  expect_page("units", units_without_timeline());
}

TEST(ShowJson, NumbersOfUnitsHaveTheirOriginAndNullWhereTheFileIsSilent) {
  const Profile profile = units_without_timeline();
  const Page page = make_page(analysis::Analysis(profile), {});
  const auto json = nlohmann::json::parse(pages_json({&page, 1}, {}))["profiles"][0];
  EXPECT_EQ(json["unit_numbers"]["columns"][5]["origin"], "counter");
  EXPECT_EQ(json["unit_numbers"]["rows"][1]["name"], "core 0 > HVX 0");
  EXPECT_EQ(json["unit_numbers"]["rows"][1]["values"][3], 5.89);
  EXPECT_EQ(json["unit_numbers"]["rows"][1]["values"][5], nullptr);
  EXPECT_EQ(json["wall"]["inferences_per_second"], 1'000);
}

// A summary that lists the costliest ops only: 142 of the run's 1,576 cycles are 9 %, not 100 %.
TEST(Show, AShareOfTheRunWhereOnlySomeOpsAreListed) {
  ProfileBuilder made;
  made.profile.provenance.files = {"summary.json"};
  const auto add = [&](Measure::Subject subject, std::uint32_t id, const char* what,
                       MeasureKind kind, double value) {
    made.profile.measures.push_back(
        {subject, id, made.text(what), kind, Origin::measured, ClockId{}, value});
  };
  const OpId op = made.op("Conv_1", "Conv2d");
  add(Measure::Subject::op, index_of(op), "dominant path", MeasureKind::dominant_path, 142);
  add(Measure::Subject::profile, 0, "cycles with any lane busy", MeasureKind::active, 1'576);
  expect_page("some_ops", made.profile);
}

TEST(Show, CountersAlone) {
  ProfileBuilder made("trace time", ClockKind::wall, 1e9);
  made.profile.provenance.files = {"counters.json"};
  Counters& counters = made.profile.counters;
  counters.series.push_back({UnitId::none, made.text("VTCM alloc"), {}, made.text("bytes")});
  for (const auto& [time, value] : {std::pair{0, 0.0}, {100, 1'048'576.0}, {300, 65'536.0}}) {
    counters.of.push_back(0);
    counters.time.push_back(time);
    counters.value.push_back(value);
  }
  expect_page("counters", made.profile);
}

TEST(Show, AnEmptyProfileSaysSo) { expect_page("empty", Profile{}); }

// A name is data: it neither steers the terminal nor breaks the table, however long.
TEST(Show, WhatDevicesSendOneAnotherByBothSides) {
  ProfileBuilder made("UTIMER", ClockKind::timer, 19.2e6);
  const UnitId dma = made.unit("DMA", Engine::dma), hvx = made.unit("HVX 0", Engine::hvx);
  made.span(dma, "send", 0, 192, SpanKind::transfer, "aicmulticastvtcm_out");
  made.span(hvx, "receive", 200, 300, SpanKind::op, "aicmulticastvtcm_in");
  made.span(dma, "lost", 300, 400, SpanKind::transfer, "aicmulticastvtcm_out");
  const auto port = [&](std::size_t op, const char* description, int number) {
    made.profile.ops[op].output = Bytes{2048};
    made.profile.ops[op].attributes = made.profile.strings.intern(fmt::format(
        "{{PortType: P2P, PortDescription: {}, TransactionId: {}}}", description, number));
  };
  port(0, "0->1", 1);
  port(1, "1<-0", 1);
  port(2, "1->0", 2);
  const Page page = make_page(analysis::Analysis(made.profile), {});
  const std::string text = page_text(page, 100);
  EXPECT_THAT(text, HasSubstr("BETWEEN DEVICES (2 pairs)\n"
                              "  from  to  transfers       sent   received  waited for, work\n"
                              "  0     1           1  2.000 KiB  2.000 KiB                 0\n"
                              "  1     0           1  2.000 KiB        0 B                 0\n"));
  EXPECT_THAT(text, HasSubstr("1 transfer has one side only"));
  const auto json = nlohmann::json::parse(pages_json({&page, 1}, {}));
  EXPECT_EQ(json["profiles"][0]["peers"]["unpaired"], 1);
  EXPECT_EQ(json["profiles"][0]["peers"]["rows"][0]["sent_bytes"], 2048);
}

TEST(Show, HostileNamesStayInTheirColumns) {
  ProfileBuilder made("trace time", ClockKind::wall, 1e9);
  made.profile.provenance.files = {"evil\x1b]0;title\x07.json"};
  const UnitId unit = made.unit("unit\r\n\x1b[2J", Engine::thread);
  made.span(unit, std::string(1'000'000, 'x') + "\x1b[31m\xff", 0, 10, SpanKind::slice);
  made.span(unit, "\xe2\x80\xaereversed", 20, 30, SpanKind::slice);
  made.profile.notes.push_back({Severity::error, "a\x1b.json", 7, "broken\x1b[0m", 1});
  const std::string printed = page_text(make_page(analysis::Analysis(made.profile), {}), 80);
  EXPECT_THAT(printed, Not(HasSubstr("\x1b")));
  EXPECT_THAT(printed, Not(HasSubstr("\r")));
  EXPECT_THAT(printed, HasSubstr("\\xe2\\x80\\xaereversed"));
  std::istringstream lines(printed);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 80u + 2 * 3) << line;  // an ellipsis takes three bytes
  }
}

// Times at the ends of their range, ids that are not there, columns of the wrong length.
TEST(Show, AForgedProfileGivesAPage) {
  ProfileBuilder made;
  const UnitId unit = made.unit("loop", Engine::hvx);
  made.profile.units[0].parent = unit;
  constexpr auto min = std::numeric_limits<std::int64_t>::min();
  constexpr auto max = std::numeric_limits<std::int64_t>::max();
  made.span(unit, "a", 0, 10);
  made.profile.spans.start[0] = min;
  made.profile.spans.duration[0] = max;
  made.span(unit, "b", 0, 10);
  made.profile.spans.start[1] = max;
  made.profile.spans.duration[1] = min;
  made.span(UnitId{77}, "c", 0, 10);
  made.profile.spans.op[2] = OpId{99};
  made.profile.base_clock = ClockId{12};
  add_column(made.profile, "short", MeasureKind::work).values.push_back(1);
  made.profile.phases.push_back({made.text("p"), 0, UnitId{5}, max, max, -1});
  made.profile.measures.push_back({Measure::Subject::op, 1'000, made.text("x"), MeasureKind::work,
                                   Origin::measured, ClockId{9}, 1e308});
  made.profile.counters.series.push_back({UnitId{44}, {}, {}, {}});
  made.profile.counters.of.push_back(3);
  made.profile.counters.time.push_back(0);
  made.profile.counters.value.push_back(0);
  const Page page = make_page(analysis::Analysis(made.profile), {});
  EXPECT_THAT(page_text(page, 0), HasSubstr("WALL"));
  EXPECT_TRUE(nlohmann::json::accept(pages_json({&page, 1}, {})));
}

TEST(Show, ASelectionIsSaidAndWhatItLeavesOutIsNotCalledIdle) {
  const Profile profile = htp_profile();
  const Page page = make_page(analysis::Analysis(profile), {10, "ops matching 'MatMul'", true});
  const std::string printed = page_text(page, 100);
  EXPECT_THAT(printed, HasSubstr("  selection   ops matching 'MatMul'\n"));
  EXPECT_THAT(printed, Not(HasSubstr("\n  idle ")));
  const auto json = nlohmann::json::parse(pages_json({&page, 1}, {}));
  EXPECT_EQ(json["profiles"][0]["selection"], "ops matching 'MatMul'");
  EXPECT_EQ(json["profiles"][0]["selection_leaves_out_rows"], true);
}

// AI Hub's downloads (a trace and its QHAS) had cycles only.
TEST(Show, ADerivedRateGivesTimesAndInferencesASecondAndSaysSo) {
  Profile profile = htp_profile();
  profile.phases.clear();
  profile.clocks[0].derived_rate = Hertz{950e6};
  profile.clocks[0].derived_error = 0.0099;
  profile.provenance.inferences = 1;
  Measure wall;
  wall.what = profile.strings.intern("graph wall");
  wall.kind = MeasureKind::wall;
  wall.clock = profile.base_clock;
  wall.value = 9'500;
  profile.measures.push_back(wall);
  const Page page = make_page(analysis::Analysis(profile), {});
  const std::string text = page_text(page, 150);
  EXPECT_THAT(
      text,
      HasSubstr("950.0 MHz (derived from whole microseconds, a lower bound; rounding 1.0 %)"));
  EXPECT_THAT(text, HasSubstr("9,500 cycles = 10.00 us (derived)"));
  EXPECT_THAT(text, HasSubstr("100,000 inferences per second, one after another (derived)"));
  const auto json = nlohmann::json::parse(pages_json({&page, 1}, {}))["profiles"][0];
  EXPECT_EQ(json["wall"]["hertz"], 950e6);
  EXPECT_EQ(json["wall"]["hertz_origin"], "derived");
  EXPECT_EQ(json["wall"]["hertz_error"], 0.0099);
  EXPECT_EQ(json["wall"]["seconds"], 1e-5);
}

TEST(ShowJson, OneSampleHasNoMedianOfTheRest) {
  ProfileBuilder made;
  made.phase("once", 0, 0, 10);
  const Page page = make_page(analysis::Analysis(made.profile), {});
  const auto json = nlohmann::json::parse(pages_json({&page, 1}, {}));
  EXPECT_EQ(json["profiles"][0]["phases"][0]["ticks"]["first"], 10);
  EXPECT_EQ(json["profiles"][0]["phases"][0]["ticks"]["median_of_rest"], nullptr);
}

TEST(ShowJson, AWallOfInferencesAloneIsNotIdle) {
  ProfileBuilder made;
  made.span(made.unit("Core 0", Engine::core), "", 0, 10, SpanKind::inference);
  const Page page = make_page(analysis::Analysis(made.profile), {});
  const auto json = nlohmann::json::parse(pages_json({&page, 1}, {}));
  EXPECT_EQ(json["profiles"][0]["wall"]["ticks"], 10);
  EXPECT_EQ(json["profiles"][0]["wall"]["parts"], nullptr);
}

TEST(ShowJson, SaysWhatThePageSays) {
  const Profile profile = htp_profile();
  const Page page = make_page(analysis::Analysis(profile), {});
  const Note note{Severity::error, "x.log", 0, "a closed format", 1};
  const auto json = nlohmann::json::parse(pages_json({&page, 1}, {&note, 1}));
  const auto& shown = json["profiles"][0];
  EXPECT_EQ(shown["provenance"]["temperature"], "cold");
  EXPECT_EQ(shown["provenance"]["structure_only"], true);
  EXPECT_EQ(shown["base_clock"]["unit"], "cycles");
  EXPECT_EQ(shown["base_clock"]["hertz"], nullptr);
  EXPECT_EQ(shown["wall"]["ticks"], 9'500);
  EXPECT_EQ(shown["wall"]["hertz"], 1e9);  // of Graph Execute, the innermost phase around it
  EXPECT_EQ(shown["ops"]["ranked_by"], "dominant path");
  EXPECT_EQ(shown["ops"]["rows"][0]["name"], "MatMul");
  EXPECT_EQ(shown["ops"]["columns"][0]["kind"], "dominant_path");
  EXPECT_EQ(shown["phases"][1]["microseconds"]["first"], 10);
  EXPECT_EQ(shown["traffic"]["ddr_read_bytes"], 65'536);
  EXPECT_EQ(shown["checks"][1]["outcome"], "failed");
  EXPECT_EQ(shown["notes"].size(), 2u);
  EXPECT_EQ(json["notes"][0]["message"], "a closed format");
}

}  // namespace
}  // namespace npuscope::report::show_test
