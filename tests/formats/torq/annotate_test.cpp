#include "formats/torq/annotate/annotate.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <set>

#include "formats/perfetto/read/read.hpp"
#include "formats/torq/annotate/compare.hpp"
#include "formats/torq/files.hpp"
#include "formats/torq/overview.hpp"
#include "formats/torq/trace.hpp"

namespace npuscope::torq::annotate_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr std::string_view header = "dispatch_name,invocation_id,action_id,timestamp_us,event\n";

class Annotate : public ::testing::Test {
 protected:
  Annotate() {
    folder_ = fs::path(::testing::TempDir()) / ("torq_annotate_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  ~Annotate() override { fs::remove_all(folder_); }

  Result<Annotation> run(std::string_view log_text, const std::string& debug_path) {
    const auto source = source_of(log_text);
    auto log = read_log(*source);
    if (!log) return tl::unexpected(log.error());
    auto debug = load_debug_info(fs::path(debug_path));
    if (!debug) return tl::unexpected(debug.error());
    debug_ = std::move(*debug);
    return annotate(*log, debug_);
  }
  Result<Annotation> run(std::string_view log_text) { return run(log_text, data("debug_info")); }

  std::string csv(const Annotation& annotation) {
    const fs::path path = folder_ / "out.csv";
    const auto written = write_annotated_csv(annotation, path);
    EXPECT_TRUE(written) << written.error().message;
    return contents(path.string());
  }

  fs::path folder_;
  DebugInfo debug_;
};

TEST_F(Annotate, WritesTheExpectedTable) {
  const auto annotation = run(contents(data("runtime.csv")));
  ASSERT_TRUE(annotation) << annotation.error().message;
  EXPECT_EQ(lines_of(annotation->notes), "");
  EXPECT_EQ(csv(*annotation), contents(data("annotated.csv")));
}

TEST_F(Annotate, TheSampleByteForByte) {
  if (!have_samples()) GTEST_SKIP();
  const auto annotation = run(contents(sample("runtime_new.csv")), sample("debug_info"));
  ASSERT_TRUE(annotation) << annotation.error().message;
  EXPECT_EQ(csv(*annotation), contents(sample("annotated_new.csv")));
}

// What the older logs say of the same run, the table says too, but for INIT and HAL.
TEST_F(Annotate, TheOlderSamples) {
  if (!have_samples()) GTEST_SKIP();
  const std::string all = contents(sample("annotated_new.csv"));
  const std::string of_dispatch = all.substr(all.find("\n0;;torq_hl.host_copy;;;25.0") + 1);
  const std::string rows = of_dispatch.substr(0, of_dispatch.find("-1;;"));
  for (const char* name : {"runtime_old_host_quoted.csv", "runtime_old_host_unquoted.csv"}) {
    const auto annotation = run(contents(sample(name)), sample("debug_info"));
    ASSERT_TRUE(annotation) << annotation.error().message;
    EXPECT_EQ(csv(*annotation), all.substr(0, all.find('\n') + 1) + rows) << name;
  }
  const auto jobs = run(contents(sample("runtime_old_nss.csv")), sample("debug_info"));
  ASSERT_TRUE(jobs) << jobs.error().message;
  EXPECT_THAT(csv(*jobs), HasSubstr("4;1.0;torq_hl.wait_program;add_0;tosa.add@L3 tosa.clamp@L4;"
                                    "39.0;True;False;True;True;False;False;1061.0;1100.0;"));
}

// Each kind of input that makes the vendor's tools raise, or print nonsense.
TEST_F(Annotate, OddLogsAreCountedOrRefused) {
  const auto notes = [&](const std::string& rows) {
    const auto annotation = run(std::string(header) + rows);
    return annotation ? lines_of(annotation->notes) : annotation.error().message;
  };
  EXPECT_THAT(notes("main_dispatch_0,1,99,5,ALLOC_BEGIN\n"),
              HasSubstr("logs ALLOC as action 99, which "));
  EXPECT_EQ(notes("main_dispatch_0,1,0,5,HOST_COPY_BEGIN\n"),
            "actions that only begin or only end; without a total\n");
  EXPECT_EQ(notes("main_dispatch_0,1,0,9,HOST_COPY_BEGIN\nmain_dispatch_0,1,0,5,HOST_COPY_END\n"),
            "actions that end before they begin; without a total, and in no sum\n");
  EXPECT_THAT(notes("main_dispatch_0,1,0,5,MADE_UP_BEGIN\n"),
              HasSubstr("logs MADE_UP as action 0, which is HOST_COPY in "));
  EXPECT_THAT(notes("other,1,0,5,HOST_COPY_BEGIN\n"),
              HasSubstr("no debug information of dispatch other"));
  EXPECT_EQ(notes("other,1,0,5,HOST_COPY_BEGIN\nmain_dispatch_0,2,-1,5,DISPATCH_BEGIN\n"),
            "no debug information of dispatch other; its rows are left out\n");
  EXPECT_EQ(notes(""), "");
}

TEST_F(Annotate, NoTimesGoBackwards) {
  const auto annotation = run(
      std::string(header) +
      "main_dispatch_0,1,0,9,HOST_COPY_BEGIN\nmain_dispatch_0,1,0,5,HOST_COPY_END\n"
      "__HAL_QUEUE_EXECUTE__,2,-1,9,HAL_CALL_BEGIN\n__HAL_QUEUE_EXECUTE__,2,-1,5,HAL_CALL_END\n");
  ASSERT_TRUE(annotation);
  // Nothing has a negative length; of the HAL it is told which way round it was.
  EXPECT_EQ(make_overview(run_intervals(*annotation)).of(OverviewMetric::host_copy), 0);
  EXPECT_EQ(make_overview(run_intervals(*annotation)).of(OverviewMetric::overall), 4'000);
  EXPECT_THAT(csv(*annotation), HasSubstr("0;;torq_hl.host_copy;;;;;;;;;;9.0;5.0;loc(unknown)\n"));
}

std::string without_lines(const std::string& text, std::initializer_list<std::string_view> parts) {
  std::string kept;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const bool left_out = std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
      return line.find(part) != line.npos;
    });
    if (!left_out) kept += line + "\n";
  }
  return kept;
}

// It was counted from the begin of its wait, without a word where the whole pair was missing.
TEST_F(Annotate, AProgramWhoseStartWasLostIsInNoSumAndNamed) {
  const std::string log = contents(data("runtime.csv"));
  const std::string named =
      "main_dispatch_0 > nss_program_1: the begin of its start (action 3) is not in the log; in no "
      "sum\n";
  for (const auto& [lost, notes] :
       {std::pair{without_lines(log, {",2,3,2060,NSS_START_BEGIN", ",2,3,2061,NSS_START_END"}),
                  named},
        {without_lines(log, {",2,3,2060,NSS_START_BEGIN"}),
         "actions that only begin or only end; without a total\n" + named}}) {
    const auto annotation = run(lost);
    ASSERT_TRUE(annotation) << annotation.error().message;
    EXPECT_EQ(lines_of(annotation->notes), notes);
    const Overview overview = make_overview(run_intervals(*annotation));
    // Program 0 ran for 30 and 25 us, program 1 for 15, which are lost, and 9.
    EXPECT_EQ(overview.of(OverviewMetric::slice_0), 55'000);
    EXPECT_EQ(overview.of(OverviewMetric::dma), 64'000);
    const std::string table = csv(*annotation);
    const auto source = source_of(table);
    const auto from_table = read_annotated_overview(*source);
    ASSERT_TRUE(from_table);
    EXPECT_EQ(from_table->of(OverviewMetric::dma), 64'000);
    EXPECT_THAT(lines_of(from_table->notes),
                HasSubstr("programs whose begin is not in the table; in no sum\n"));
  }
}

TEST_F(Annotate, TheCasesOfLostStarts) {
  const std::string folder = NPUSCOPE_SHARED_DIR "/data/cases/torq/";
  if (!fs::exists(folder + "lost_start.csv")) GTEST_SKIP();
  for (const char* name : {"lost_start.csv", "lost_begin.csv"}) {
    const auto annotation = run(contents(folder + name), sample("debug_info"));
    ASSERT_TRUE(annotation) << annotation.error().message;
    EXPECT_EQ(make_overview(run_intervals(*annotation)).of(OverviewMetric::slice), 0);
    EXPECT_THAT(lines_of(annotation->notes), HasSubstr("nss_program_1: the begin of its start"));
  }
}

TEST_F(Annotate, AHalEventWithoutAPartnerIsARowOfLengthZero) {
  const auto annotation = run(std::string(header) +
                              "__HAL_QUEUE_EXECUTE__,1,-1,5,HAL_QUEUE_WAIT_BEGIN\n"
                              "__HAL_QUEUE_EXECUTE__,2,-1,7,HAL_CALL_END\n"
                              "__HAL_QUEUE_EXECUTE__,3,-1,9,HAL_QUEUE_SIGNALLED\n");
  ASSERT_TRUE(annotation) << annotation.error().message;
  const std::string table = csv(*annotation);
  const std::string unused = ";;;;;;;";
  EXPECT_EQ(table.substr(table.find('\n') + 1),
            "-1;;__HAL_QUEUE_EXECUTE__.HAL_QUEUE_WAIT;;;0.0" + unused +
                "5.0;5.0;HAL_QUEUE_WAIT\n"
                "-1;;__HAL_QUEUE_EXECUTE__.HAL_CALL;;;0.0" +
                unused +
                "7.0;7.0;HAL_QUEUE_EXECUTE\n"
                "-1;;__HAL_QUEUE_EXECUTE__.HAL_QUEUE_SIGNALLED;;;0.0" +
                unused + "9.0;9.0;HAL_QUEUE_SIGNALLED\n");
  EXPECT_EQ(lines_of(annotation->notes),
            "HAL events without a partner; rows of length zero, 2 times\n");
}

TEST_F(Annotate, NamesAreNoFormulasAndNoFields) {
  fs::create_directories(folder_ / "debug");
  std::ofstream(folder_ / "debug" / "d.mlir")
      << "module {\n  func.func @d() {\n"
         "    torq_hl.host_copy %a {\"torq-action-id\" = 0 : i32} loc(\"=cmd|x\")\n"
         "    torq_hl.host_copy %a {\"torq-action-id\" = 1 : i32} loc(\"a;b\\\"c\")\n  }\n}\n";
  const auto annotation =
      run(std::string(header) + "d,1,-1,5,DISPATCH_BEGIN\n", (folder_ / "debug").string());
  ASSERT_TRUE(annotation) << annotation.error().message;
  EXPECT_THAT(csv(*annotation), HasSubstr("0;;torq_hl.host_copy;;;;;;;;;;;;\"'=cmd|x\"\n"
                                          "1;;torq_hl.host_copy;;;;;;;;;;;;\"a;b\"\"c\"\n"));
}

TEST_F(Annotate, JobsAreWholeNumbersWhereEveryRowHasOne) {
  fs::create_directories(folder_ / "debug");
  std::ofstream(folder_ / "debug" / "d.mlir")
      << "module {\n  func.func @d() {\n"
         "    %1 = torq_hl.descriptor \"p\" on 0 program %0 : <nss> {\"torq-job-id\" = 7 : i32}\n"
         "    torq_hl.start_program %1 : !torq_hl.invocation<nss> {\"torq-action-id\" = 0 : i32}\n"
         "    torq_hl.wait_program %1 : !torq_hl.invocation<nss> {\"torq-action-id\" = 1 : i32}\n"
         "  }\n}\n";
  const auto annotation =
      run(std::string(header) + "d,1,0,5,NSS_START_BEGIN\n", (folder_ / "debug").string());
  ASSERT_TRUE(annotation) << annotation.error().message;
  EXPECT_THAT(csv(*annotation), HasSubstr("\n0;7;torq_hl.start_program;"));
}

// A program of several kernels is no single one of them, and not the operator that it starts with.
TEST_F(Annotate, ATableIsAProfileAgain) {
  const auto source = open_byte_source(fs::path(data("annotated.csv")));
  ASSERT_TRUE(source);
  const auto profile = read_annotated_profile(**source);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(lines_of(profile->notes),
            "programs of several kernels, each one piece of time here; open the runtime log with "
            "debug information, which splits them\n");
  EXPECT_EQ(profile->phases.size(), 2u);
  std::string programs;
  for (std::size_t i = 0; i < profile->spans.size(); ++i) {
    const Op& op = profile->ops[index_of(profile->spans.op[i])];
    if (profile->text(profile->units[index_of(profile->spans.unit[i])].name) != "NSS") continue;
    programs += fmt::format("{} {} {}+{}\n", profile->text(op.kind), profile->text(op.node),
                            profile->spans.start[i], profile->spans.duration[i]);
  }
  EXPECT_EQ(programs,
            "NSS program  2030000+30000\n"
            "add_1 tosa.conv2d@L3 tosa.add@L4 2060000+15000\n"
            "NSS program  3015000+25000\n"
            "add_1 tosa.conv2d@L3 tosa.add@L4 3041000+9000\n");
  std::string arrows;
  for (const Flow& flow : profile->flows) {
    const auto [from, to] = std::pair(index_of(flow.from), index_of(flow.to));
    arrows += fmt::format("{} -> {}\n", profile->spans.start[from], profile->spans.start[to]);
  }
  EXPECT_EQ(arrows,
            "2030000 -> 2030000\n2030000 -> 2060000\n2060000 -> 2060000\n2060000 -> 2075000\n"
            "3015000 -> 3015000\n3015000 -> 3041000\n3041000 -> 3041000\n3041000 -> 3050000\n");
}

// --- traces ---

std::set<std::string> tracks_of(const Profile& profile) {
  std::set<std::string> tracks;
  for (const Unit& unit : profile.units) {
    std::string name(profile.text(unit.name));
    if (unit.parent != UnitId::none) {
      name = fmt::format("{} > {}", profile.text(profile.units[index_of(unit.parent)].name), name);
    }
    tracks.insert(name);
  }
  return tracks;
}

Profile read_trace(const fs::path& path) {
  const auto source = open_byte_source(path);
  EXPECT_TRUE(source);
  auto profile = perfetto::read_profile(**source);
  EXPECT_TRUE(profile);
  return profile ? std::move(*profile) : Profile{};
}

TEST_F(Annotate, ATraceHasTheVendorsTracksEachOnce) {
  if (!have_samples()) GTEST_SKIP();
  const auto annotation = run(contents(sample("runtime_new.csv")), sample("debug_info"));
  ASSERT_TRUE(annotation);
  ASSERT_TRUE(write_annotated_trace(*annotation, folder_ / "out.pb"));
  const Profile ours = read_trace(folder_ / "out.pb");
  const Profile theirs = read_trace(sample("annotated_new.pb"));
  const auto our_tracks = tracks_of(ours);
  for (const std::string& track : tracks_of(theirs)) {
    EXPECT_TRUE(our_tracks.contains(track)) << track;
  }
  int roots = 0;
  for (const Unit& unit : ours.units) roots += ours.text(unit.name) == "NPU Task Breakdown";
  EXPECT_EQ(roots, 1);
  EXPECT_EQ(ours.flows.size(), 4u);
}

// "track: name begin+length", in nanoseconds.
std::multiset<std::string> slices_on(const Profile& profile, std::string_view track) {
  std::multiset<std::string> slices;
  for (std::size_t row = 0; row < profile.spans.size(); ++row) {
    const std::string_view name =
        profile.text(profile.units[index_of(profile.spans.unit[row])].name);
    if (name != track) continue;
    std::string slice(profile.text(profile.ops[index_of(profile.spans.op[row])].name));
    // The vendor's has no blank before one of its bars.
    if (const auto at = slice.find("| Torq"); at != slice.npos && slice[at - 1] != ' ') {
      slice.insert(at, " ");
    }
    slices.insert(
        fmt::format("{} {}+{}", slice, profile.spans.start[row], profile.spans.duration[row]));
  }
  return slices;
}

TEST_F(Annotate, MeasuredTracksHoldWhatTheVendorsHold) {
  if (!have_samples()) GTEST_SKIP();
  const auto annotation = run(contents(sample("runtime_new.csv")), sample("debug_info"));
  ASSERT_TRUE(annotation);
  ASSERT_TRUE(write_annotated_trace(*annotation, folder_ / "out.pb"));
  const Profile ours = read_trace(folder_ / "out.pb");
  const Profile theirs = read_trace(sample("annotated_new.pb"));
  for (const char* track :
       {"NSS Programs", "Host Programs", "Host Copy", "DMA In Used", "DMA Out Used", "CDMA Used",
        "Slice 0 Used", "Slice 1 Used", "CSS Used", "00 OVERVIEW DMA COMBINED",
        "08 OVERVIEW DMA ONLY", "10 OVERVIEW DMA COMPUTE OVERLAP", "11 OVERVIEW HAL",
        "13 OVERVIEW HOST COPY", "14 OVERVIEW IDLE", "15 OVERALL"}) {
    EXPECT_EQ(slices_on(ours, track), slices_on(theirs, track)) << track;
  }
}

TEST_F(Annotate, EstimatesBeginWithTheirProgramAtTheClockThatIsNamed) {
  const auto annotation = run(contents(data("runtime.csv")));
  ASSERT_TRUE(annotation);
  ASSERT_TRUE(write_annotated_trace(*annotation, folder_ / "out.pb", 100));
  const Profile trace = read_trace(folder_ / "out.pb");
  EXPECT_EQ(slices_on(trace, "Slice 0 (Compile)"),
            (std::multiset<std::string>{"Slice Program | conv2d_0 2030400+1000",
                                        "Slice Program | conv2d_0 3015400+1000"}));
  // Slice 1 is waited for by the second program, and was started 99 cycles before it.
  EXPECT_TRUE(slices_on(trace, "Slice 1 (Compile)").contains("Slice Program | add_1 2059010+300"));
  EXPECT_TRUE(slices_on(trace, "Slice 1 (Compile)").contains("WAITING 2059310+790"));
}

// From the begin of a task to what waits for it, a unit that has finished was drawn as busy.
TEST_F(Annotate, WaitingIsNoPartOfAUnitsEstimate) {
  const auto annotation = run(contents(data("runtime.csv")));
  ASSERT_TRUE(annotation);
  ASSERT_TRUE(write_annotated_trace(*annotation, folder_ / "out.pb", 100));
  const Profile trace = read_trace(folder_ / "out.pb");
  const auto slices = slices_on(trace, "Slice 1 (Compile)");
  EXPECT_TRUE(slices.contains("Slice Program | add_1 2059010+300"));
  EXPECT_TRUE(slices.contains("WAITING 2059310+790"));
}

// The vendor's reports search a trace for text, undecoded: [a-z] in any case behind a number is its
// unit. They read 85.649msZ, because the tag of what came next is a letter.
TEST_F(Annotate, TextsInATraceEndWhereTheyEnd) {
  const auto annotation = run(contents(data("runtime.csv")));
  ASSERT_TRUE(annotation);
  ASSERT_TRUE(write_annotated_trace(*annotation, folder_ / "out.pb"));
  const std::string bytes = contents((folder_ / "out.pb").string());
  const auto overall = bytes.find("OVERALL: 1.062ms");
  ASSERT_NE(overall, bytes.npos);
  const char next = bytes[overall + 16];
  EXPECT_FALSE((next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z')) << next;
  const auto idle = bytes.find("IDLE: 900.000µs (84.75%)");
  EXPECT_NE(idle, bytes.npos);
}

TEST_F(Annotate, ComparesEstimatesWithWhatWasMeasured) {
  const auto annotation = run(contents(data("runtime.csv")));
  ASSERT_TRUE(annotation);
  const auto programs = compare_programs(*annotation);
  ASSERT_EQ(programs.size(), 2u);
  EXPECT_EQ(programs[0].estimated_cycles, 140);
  EXPECT_EQ(programs[0].first_us, 30);
  EXPECT_EQ(programs[0].measured_us, 25);  // the second run
  EXPECT_EQ(programs[1].operators, "tosa.conv2d@L3 tosa.add@L4");
}

}  // namespace
}  // namespace npuscope::torq::annotate_test
