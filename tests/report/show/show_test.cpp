// The pages of `npuscope show`, whole, for each sort of profile.
#include "report/show/show.hpp"
#include "npuscope/analysis/analysis.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/profile_builder.hpp"
#include "number_meaning.hpp"
#include "report/document/text_table.hpp"
#include "report/forged_profile.hpp"

namespace npuscope::report::show_test {
namespace {

using npuscope::test_support::ProfileBuilder;
using ::testing::HasSubstr;
using ::testing::Not;

Document full_page(const Profile& profile, const ShowRequest& request = {}) {
  auto document = show_document(analysis::Analysis(profile), request);
  EXPECT_TRUE(document) << document.error().message;
  return document ? std::move(*document) : Document();
}

std::string full_text(const Profile& profile, std::size_t width = 100, std::size_t top = 10) {
  return document_text(full_page(profile, {.top = top}), width);
}

nlohmann::json json_of(const Profile& profile, const ShowRequest& request = {}) {
  const Document document = full_page(profile, request);
  return nlohmann::json::parse(documents_json({&document, 1}, {}))["profiles"][0];
}

void expect_file(const std::string& name, const std::string& printed) {
  std::stringstream expected;
  expected << std::ifstream(NPUSCOPE_TEST_DATA "/show/" + name + ".txt").rdbuf();
  if (expected.str() != printed) {
    std::ofstream(std::filesystem::temp_directory_path() / ("show-" + name + ".txt")) << printed;
  }
  EXPECT_EQ(printed, expected.str()) << "in " << name;
}

// tests/data/show/NAME.txt is the first page, NAME.full.txt the full one; a mismatch leaves what
// was printed in the temporary folder.
void expect_page(const std::string& name, const Profile& profile, std::size_t width = 100,
                 std::size_t top = 10) {
  const analysis::Analysis analysis(profile);
  const std::string first =
      document_text(first_page(analysis, {.width = width, .files = name + ".json"}), width);
  EXPECT_LE(std::count(first.begin(), first.end(), '\n'), 30) << "in " << name;
  expect_file(name, first);
  expect_file(name + ".full", full_text(profile, width, top));
}

MeasureColumn& add_column(Profile& profile, std::string_view what, MeasureKind kind,
                          Origin origin = Origin::measured) {
  profile.spans.measures.push_back({profile.strings.intern(what),
                                    kind,
                                    origin,
                                    test_support::meaning_of(kind, what),
                                    profile.base_clock,
                                    {}});
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
                        .platform = Provenance::Platform::hexagon,
                        .target = {},
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
    made.profile.measures.push_back(
        {Measure::Subject::op, index_of(op), ticks, MeasureKind::work, Origin::measured,
         test_support::meaning_of(MeasureKind::work, "work"), ClockId{}, value});
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
    made.profile.measures.push_back({Measure::Subject::unit, index_of(unit), made.text(what), kind,
                                     origin, test_support::meaning_of(kind, what), ClockId{},
                                     value});
  };
  add(vector, "utilization percent", MeasureKind::count, Origin::measured, 5.89);
  add(vector, "sync wait", MeasureKind::work, Origin::measured, 960);
  add(core, "ddr read bytes", MeasureKind::count, Origin::counter, 65'536);
  return std::move(made.profile);
}

TEST(Show, UnitsWithoutATimelineByWhatTheFileSaysOfThem) {
  expect_page("units", units_without_timeline());
}

TEST(ShowJson, NumbersOfUnitsHaveTheirOrigin) {
  const auto json = json_of(units_without_timeline());
  const auto& rows = json["unit_numbers"]["values"]["rows"];
  const auto has = [&](const char* unit, const char* number, double value, const char* origin) {
    return std::any_of(rows.begin(), rows.end(), [&](const auto& row) {
      return row["unit"] == unit && row["number"] == number && row["value"] == value &&
             row["origin"] == origin;
    });
  };
  EXPECT_TRUE(has("core 0 > HVX 0", "utilization percent", 5.89, "measured")) << rows;
  EXPECT_TRUE(has("core 0", "ddr read bytes", 65'536, "counter")) << rows;
  EXPECT_EQ(json["wall"]["inferences_per_second"], 1'000);
}

// A summary that lists the costliest ops only: 142 of the run's 1,576 cycles are 9 %, not 100 %.
TEST(Show, AShareOfTheRunWhereOnlySomeOpsAreListed) {
  ProfileBuilder made;
  made.profile.provenance.files = {"summary.json"};
  const auto add = [&](Measure::Subject subject, std::uint32_t id, const char* what,
                       MeasureKind kind, double value) {
    made.profile.measures.push_back({subject, id, made.text(what), kind, Origin::measured,
                                     test_support::meaning_of(kind, what), ClockId{}, value});
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
  const auto port = [&](std::uint32_t op, const char* from, const char* to, bool is_sender) {
    made.profile.ops[op].output = Bytes{2048};
    made.profile.peer_ports.push_back(
        {OpId(op), made.text(from), made.text(to), made.text(from), is_sender});
  };
  port(0, "0", "1", true);
  port(1, "0", "1", false);
  port(2, "1", "0", true);
  EXPECT_THAT(full_text(made.profile), HasSubstr("BETWEEN DEVICES"));
  const auto json = json_of(made.profile);
  EXPECT_EQ(json["peers"]["unpaired"], 1);
  EXPECT_EQ(json["peers"]["rows"][0]["sent_bytes"], 2048);
  EXPECT_EQ(json["peers"]["rows"][1]["received_bytes"], 0);
}

TEST(Show, HostileNamesStayInTheirColumns) {
  ProfileBuilder made("trace time", ClockKind::wall, 1e9);
  made.profile.provenance.files = {"evil\x1b]0;title\x07.json"};
  const UnitId unit = made.unit("unit\r\n\x1b[2J", Engine::thread);
  made.span(unit, std::string(1'000'000, 'x') + "\x1b[31m\xff", 0, 10, SpanKind::slice);
  made.span(unit, "\xe2\x80\xaereversed", 20, 30, SpanKind::slice);
  made.profile.notes.push_back({Severity::error, "a\x1b.json", 7, "broken\x1b[0m", 1});
  const std::string printed =
      document_text(first_page(analysis::Analysis(made.profile), {.width = 80}), 80) +
      full_text(made.profile, 80);
  EXPECT_THAT(printed, Not(HasSubstr("\x1b")));
  EXPECT_THAT(printed, Not(HasSubstr("\r")));
  EXPECT_THAT(printed, HasSubstr("\\xe2\\x80\\xaereversed"));
  std::istringstream lines(printed);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(columns_of(line), 80u) << line;
  }
}

TEST(Show, AForgedProfileGivesAPage) {
  const Profile forged = test_support::forged_profile();
  EXPECT_THAT(full_text(forged, 0), HasSubstr("WALL"));
  EXPECT_THAT(document_text(first_page(analysis::Analysis(forged), {.width = 0}), 0),
              HasSubstr("WHERE THE TIME GOES"));
  EXPECT_FALSE(json_of(forged).empty());
}

TEST(Show, ASelectionIsSaidAndWhatItLeavesOutIsNotCalledIdle) {
  const Profile profile = nested_profile();
  Document full = full_page(profile, {.leaves_out_rows = true});
  full.selection = "ops matching 'MatMul'";
  Document first = first_page(analysis::Analysis(profile), {.leaves_out_rows = true});
  first.selection = full.selection;
  for (const Document* document : {&full, &first}) {
    const std::string printed = document_text(*document, 100);
    EXPECT_THAT(printed, HasSubstr("  selection    ops matching 'MatMul'\n"));
    EXPECT_THAT(printed, HasSubstr("not selected or idle"));
    EXPECT_THAT(printed, HasSubstr("FINDINGS  not checked"));
  }
  EXPECT_EQ(json_of(profile, {.leaves_out_rows = true})["wall"]["idle_may_be_left_out"], true);
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
  wall.meaning = test_support::meaning_of(wall.kind, profile.text(wall.what));
  profile.measures.push_back(wall);
  const std::string text = full_text(profile, 150);
  EXPECT_THAT(
      text,
      HasSubstr("950.0 MHz (derived from whole microseconds, a lower bound; rounding 1.0 %)"));
  EXPECT_THAT(text, HasSubstr("9,500 cycles = 10.00 us (derived)"));
  EXPECT_THAT(text, HasSubstr("100,000 inferences per second, one after another (derived)"));
  const auto json = json_of(profile);
  EXPECT_EQ(json["wall"]["hertz"], 950e6);
  EXPECT_EQ(json["wall"]["hertz_origin"], "derived");
  EXPECT_EQ(json["wall"]["hertz_error"], 0.0099);
  EXPECT_EQ(json["wall"]["seconds"], 1e-5);
}

TEST(ShowJson, OneSampleHasNoMedianOfTheRest) {
  ProfileBuilder made;
  made.phase("once", 0, 0, 10);
  const auto json = json_of(made.profile);
  EXPECT_EQ(json["phases"]["rows"][0]["first_ticks"], 10);
  EXPECT_EQ(json["phases"]["rows"][0]["median_of_rest_ticks"], nullptr);
}

TEST(ShowJson, AWallOfInferencesAloneIsNotIdle) {
  ProfileBuilder made;
  made.span(made.unit("Core 0", Engine::core), "", 0, 10, SpanKind::inference);
  const auto json = json_of(made.profile);
  EXPECT_EQ(json["wall"]["ticks"], 10);
  EXPECT_EQ(json["wall"]["active"], nullptr);
  EXPECT_TRUE(json["wall"]["rows"].empty());
}

TEST(ShowJson, SaysWhatThePageSays) {
  const auto shown = json_of(htp_profile());
  EXPECT_EQ(shown["about"]["temperature"], "cold");
  EXPECT_EQ(shown["structure_only"], true);
  EXPECT_EQ(shown["clock"]["unit"], "cycles");
  EXPECT_EQ(shown["clock"]["hertz"], nullptr);
  EXPECT_EQ(shown["wall"]["ticks"], 9'500);
  EXPECT_EQ(shown["wall"]["hertz"], 1e9);  // of Graph Execute, the innermost phase around it
  EXPECT_EQ(shown["ops"]["sorted_by"], "dominant path");
  EXPECT_EQ(shown["ops"]["rows"][0]["op"], "MatMul");
  EXPECT_DOUBLE_EQ(shown["phases"]["rows"][1]["first_seconds"], 10e-6);
  EXPECT_EQ(shown["traffic"]["rows"][0]["bytes"], 65'536);
  EXPECT_EQ(shown["checks"]["rows"][1]["outcome"], "failed");
  EXPECT_EQ(shown["notes"].size(), 2u);
}

TEST(Show, ASectionAloneIsTheFullPagesOwn) {
  const Profile profile = htp_profile();
  const Document one = full_page(profile, {.sections = {"traffic"}});
  ASSERT_EQ(one.sections.size(), 1u);
  const std::string text = document_text(one, 100);
  EXPECT_THAT(full_text(profile), HasSubstr(text.substr(text.find("MEMORY TRAFFIC"))));
}

TEST(Show, ASectionThatIsNotThereIsAUsageErrorThatListsThoseThatAre) {
  const Profile profile = htp_profile();
  const auto refused = show_document(analysis::Analysis(profile), {.sections = {"traffik"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::usage);
  EXPECT_THAT(refused.error().message, HasSubstr("it has about, wall, phases, findings, "
                                                 "model_parts, ops"));
}

TEST(Show, ColourSaysWhatKindOfTextItIsAndChangesNoWord) {
  const Profile profile = htp_profile();
  const Document page = first_page(analysis::Analysis(profile), {});
  const std::string coloured = document_text(page, 100, Colour::ansi);
  EXPECT_THAT(coloured, HasSubstr("\n\x1b[1mOPS, by dominant path, in cycles"));
  EXPECT_THAT(coloured, HasSubstr("\x1b[33mone cold"));
  std::string plain;
  for (std::size_t i = 0; i < coloured.size(); ++i) {
    if (coloured[i] == '\x1b') {
      i = coloured.find('m', i);
    } else {
      plain += coloured[i];
    }
  }
  std::string without_ends;  // a coloured cell may end in blanks
  std::istringstream lines(plain);
  for (std::string line; std::getline(lines, line);) {
    line.erase(line.find_last_not_of(' ') + 1);
    without_ends += line + "\n";
  }
  EXPECT_EQ(without_ends, document_text(page, 100));
}

}  // namespace
}  // namespace npuscope::report::show_test
