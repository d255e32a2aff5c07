// Networks as compilers since 2.3.0 make them: one dispatch, of which a program holds many kernels.
#include <gmock/gmock.h>

#include <random>
#include <regex>

#include "formats/torq/annotate/annotate.hpp"
#include "formats/torq/debug/debug_folder.hpp"
#include "formats/torq/files.hpp"
#include "formats/torq/overview.hpp"
#include "formats/torq/profile/program_split.hpp"
#include "formats/torq/runtime_log.hpp"
#include "formats/torq/timeline.hpp"

namespace npuscope::torq::one_dispatch_test {
namespace {

using ::testing::HasSubstr;

RuntimeLog log_of(std::string_view text) {
  const auto source = source_of(text);
  return std::move(*read_log(*source));
}
RuntimeLog log() { return log_of(contents(data("one_dispatch/runtime.csv"))); }

DebugInfo debug() {
  return std::move(*load_debug_info(std::filesystem::path(data("one_dispatch/debug"))));
}

// Which ops of the NSS have how many nanoseconds in an inference.
std::string nss_of(const Profile& profile, std::uint32_t inference) {
  std::string text;
  for (std::size_t i = 0; i < profile.spans.size(); ++i) {
    const Unit& unit = profile.units[index_of(profile.spans.unit[i])];
    if (profile.text(unit.name) != "NSS" || profile.spans.instance[i] != inference) continue;
    const Op& op = profile.ops[index_of(profile.spans.op[i])];
    text += fmt::format("{}: {} {}\n", profile.text(op.label()), profile.text(op.kind),
                        profile.spans.duration[i]);
  }
  return text;
}

// A program of four kernels counted wholly as one of them.
TEST(OneDispatch, AProgramOfManyKernelsIsSplitOverThem) {
  const RuntimeLog run = log();
  const DebugInfo info = debug();
  const Profile profile = make_profile(run, &info);
  EXPECT_EQ(nss_of(profile, 0),
            "NSS program code: transfers 5000\n"
            "@L2C3: DMA In 10000\n"
            "onnx.Conv@L4: conv2d_0 20000\n"
            "NSS program code: DMA In 0\n"
            "onnx.MaxPool@L5: maxpool2d_1 6000\n"
            "onnx.MaxPool@L5: maxpool2d_1 0\n"
            "onnx.Conv@L6: conv2d_2 10000\n"
            "nss_program_1, no unit at work: NSS 1000\n"
            "onnx.Conv@L6: DMA Out 3000\n");
  // With all bytes of the transfers, also of those behind kernels.
  std::int64_t bytes = 0;
  for (const std::int64_t value : profile.spans.measures.front().values) {
    if (value != MeasureColumn::missing) bytes += value;
  }
  EXPECT_EQ(bytes, 2 * (640 + 640 + 256));
}

// Without debug information nothing is divided, and nothing is guessed from a dispatch's name.
TEST(OneDispatch, WithoutAnEstimateAProgramIsOnePieceOfNoKind) {
  const Profile profile = make_profile(log());
  EXPECT_EQ(nss_of(profile, 0),
            "NSS program 1: NSS program 5000\nNSS program 3: NSS program 50000\n");
  for (const Op& op : profile.ops) {
    EXPECT_TRUE(op.is_unnamed) << profile.text(op.name);
    EXPECT_EQ(profile.text(op.name).find("conv"), std::string_view::npos);
  }
}

DispatchInfo random_dispatch(std::mt19937& random) {
  DispatchInfo dispatch;
  ProgramRun run;
  run.cycles = Interval{std::int64_t(random() % 5), 0};
  run.cycles->end = run.cycles->begin + std::int64_t(random() % 40);
  for (std::uint32_t i = 0; i < random() % 8; ++i) {
    UnitWork work{.unit = NpuUnit(random() % npu_unit_count)};
    const auto begin = std::int64_t(random() % 50);
    work.cycles = Interval{begin, begin + std::int64_t(random() % 20)};
    if (random() % 2 == 0) work.duration_cycles = std::int64_t(random() % 30) - 3;
    (random() % 3 == 0 ? run.unfinished_work : run.work).push_back(i);
    dispatch.work.push_back(work);
  }
  dispatch.programs.push_back(std::move(run));
  return dispatch;
}

// Cycle by cycle: who has it.
TEST(OneDispatch, PartsAreThoseOfTheSlowWay) {
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    const DispatchInfo dispatch = random_dispatch(random);
    const ProgramRun& run = dispatch.programs.front();
    std::vector<std::int64_t> expected(dispatch.work.size() + 1), found = expected;
    for (std::int64_t cycle = run.cycles->begin; cycle < run.cycles->end; ++cycle) {
      std::size_t owner = dispatch.work.size();
      for (std::size_t i = 0; i < dispatch.work.size(); ++i) {
        const UnitWork& work = dispatch.work[i];
        const std::int64_t length = std::clamp<std::int64_t>(
            work.duration_cycles.value_or(length_of(*work.cycles)), 0, length_of(*work.cycles));
        if (cycle < work.cycles->begin || cycle >= work.cycles->begin + length) continue;
        const auto rank = [&](std::size_t each) {
          const UnitWork& one = dispatch.work[each];
          return std::tuple(is_transfer(one.unit), std::max(one.cycles->begin, run.cycles->begin),
                            each);
        };
        if (owner == dispatch.work.size() || rank(i) < rank(owner)) owner = i;
      }
      ++expected[owner];
    }
    const auto parts = parts_of(dispatch, run);
    std::int64_t at = run.cycles->begin;
    for (const ProgramPart& part : parts) {
      const std::size_t owner = part.work == no_work ? dispatch.work.size() : part.work;
      found[owner] += length_of(part.cycles);
      if (length_of(part.cycles) == 0) continue;
      EXPECT_EQ(part.cycles.begin, at);
      at = part.cycles.end;
    }
    EXPECT_EQ(found, expected) << round;
  }
}

TEST(OneDispatch, TheSplitAddsUpToTheProgram) {
  std::mt19937 random(9);
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (int round = 0; round < 2000; ++round) {
    const DispatchInfo dispatch = random_dispatch(random);
    const auto parts = parts_of(dispatch, dispatch.programs.front());
    const std::int64_t ticks = round % 50 == 0 ? most : std::int64_t(random() % 1'000'000);
    const auto ends = split(ticks, parts);
    ASSERT_EQ(ends.size(), parts.size());
    EXPECT_TRUE(std::is_sorted(ends.begin(), ends.end()));
    if (parts.empty()) continue;
    EXPECT_GE(ends.front(), 0);
    EXPECT_EQ(ends.back(), ticks);
  }
}

// The same of the profile: what the NSS works is what the log measured of its programs.
TEST(OneDispatch, WorkOfTheNssIsWhatTheLogMeasured) {
  const RuntimeLog run = log();
  const DebugInfo info = debug();
  for (const DebugInfo* known : {static_cast<const DebugInfo*>(nullptr), &info}) {
    const Profile profile = make_profile(run, known);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < profile.spans.size(); ++i) {
      const Unit& unit = profile.units[index_of(profile.spans.unit[i])];
      if (profile.text(unit.name) == "NSS") sum += profile.spans.duration[i];
    }
    EXPECT_EQ(sum, (5 + 50 + 5 + 40) * 1000);
  }
}

// The text with `lines` lines in front of the model.
std::string shifted(std::string text, int lines) {
  const std::regex place(R"re("models/net.mlir":(\d+):)re");
  std::string out;
  std::smatch match;
  while (std::regex_search(text, match, place)) {
    out += match.prefix().str() +
           fmt::format("\"models/net.mlir\":{}:", std::stoi(match[1].str()) + lines);
    text = match.suffix().str();
  }
  return out + text;
}

std::vector<std::string> identities_of(const Profile& profile) {
  std::vector<std::string> all;
  for (const Op& op : profile.ops) {
    all.push_back(std::string(profile.text(op.identity)) + " " +
                  std::string(profile.text(op.kind)));
  }
  return all;
}

// Three lines of comment before the model made every op another one to diff.
TEST(OneDispatch, NamesThatAreComparedDoNotDependOnLineNumbers) {
  const std::string text = contents(data("one_dispatch/debug/net_dispatch_0_conv_2d.mlir"));
  const auto before = read_debug_info(text, "a.mlir");
  ASSERT_TRUE(before);
  const DebugInfo with_source = debug();
  const auto expected = identities_of(*make_profile(before->front()));
  EXPECT_EQ(expected.front(), "NSS program code DMA In");
  EXPECT_EQ(expected[2], "conv2d 0 conv2d_0");
  EXPECT_EQ(identities_of(*make_profile(with_source.dispatches.front(), &with_source)), expected);
  for (const int lines : {1, 3, 7, 100, 100'000}) {
    const auto after = read_debug_info(shifted(text, lines), "b.mlir");
    ASSERT_TRUE(after);
    EXPECT_EQ(identities_of(*make_profile(after->front())), expected) << lines;
  }
}

std::string labels_of(const Profile& profile) {
  std::string text;
  for (const Op& op : profile.ops) text += fmt::format("{}\n", profile.text(op.label()));
  return text;
}

TEST(OneDispatch, EstimatesAreCalledAfterOperatorsElseAfterKernels) {
  const DebugInfo info = debug();
  EXPECT_EQ(labels_of(*make_profile(info.dispatches.front(), &info)),
            "NSS program code\n@L2C3\nonnx.Conv@L4\nonnx.MaxPool@L5\nonnx.MaxPool@L5\n"
            "onnx.Conv@L6\nonnx.Conv@L6\n");
  EXPECT_EQ(labels_of(*make_profile(info.dispatches.front())),
            "NSS program code\n@L2C3\nconv2d_0 @L4C10\nmaxpool2d_1 @L5C10\nmaxpool2d_1 @L5C10\n"
            "conv2d_2 @L6C10\nconv2d_2 @L6C10\n");
}

constexpr std::string_view timeline_text =
    "taskId, elapsed_time(us), timestamp(us), event, location, bytes\n"
    "1,100,0,DMA In,loc(callsite(\"models/net.mlir\":4:10 at \"models/net.mlir\":2:3)),256\n"
    "2,200,100,Slice 0,loc(callsite(\"models/net.mlir\":4:10 at \"models/net.mlir\":2:3)),\n"
    "3,9,300,DMA In,loc(unknown),1\n";

TEST(OneDispatch, ATimelineIsNamedByTheSourceNextToIt) {
  const auto source = source_of(timeline_text);
  const auto timeline = read_timeline(*source);
  ASSERT_TRUE(timeline);
  SourceFiles sources({data("one_dispatch")});
  EXPECT_EQ(labels_of(make_profile(*timeline, &sources)),
            "onnx.Conv@L4\nonnx.Conv@L4\nplace not known\n");
  const DebugInfo info = debug();
  EXPECT_EQ(labels_of(make_profile(*timeline, nullptr, &info)),
            "onnx.Conv@L4\nonnx.Conv@L4\nplace not known\n");
}

// All aliases of locations stand before the module: more than any head.
TEST(OneDispatch, LocationsThatFillTheHeadAreMlir) {
  std::string head;
  for (int i = 0; head.size() < 70'000; ++i) {
    head += fmt::format("#loc{} = loc(\"models/net.mlir\":{}:3)\n", i, i);
  }
  EXPECT_TRUE(looks_like_mlir(head.substr(0, 65'536)));
  EXPECT_FALSE(looks_like_mlir("# a comment\n# another\n"));
  EXPECT_FALSE(looks_like_mlir("#loc = loc(unknown)\nnot a module\n"));
}

TEST(OneDispatch, ADispatchWithoutActionsIsThere) {
  const auto dispatches = read_debug_info(
      "module {\n  func.func @d_5_slow_memcpy() attributes {\"torq-nss-program-base\" = 9 : i64} "
      "{\n"
      "    return loc(unknown)\n  } loc(unknown)\n} loc(unknown)\n",
      "d.mlir");
  ASSERT_TRUE(dispatches) << dispatches.error().message;
  EXPECT_EQ(dispatches->front().name, "d_5_slow_memcpy");
  EXPECT_TRUE(dispatches->front().actions.empty());
}

TEST(OneDispatch, TextWithoutLocationsSaysHowToPrintThem) {
  const std::string text =
      std::regex_replace(contents(data("one_dispatch/debug/net_dispatch_0_conv_2d.mlir")),
                         std::regex(R"( loc\(#loc\d*\)|#loc\d* = [^\n]*\n)"), "");
  const auto dispatches = read_debug_info(text, "d.mlir");
  ASSERT_TRUE(dispatches) << dispatches.error().message;
  EXPECT_THAT(lines_of(dispatches->front().notes), HasSubstr("--mlir-print-debuginfo"));
  EXPECT_THAT(labels_of(*make_profile(dispatches->front())), HasSubstr("conv2d_0\nmaxpool2d_1\n"));
}

// 49 us of start A, start B, wait A, wait B: the vendor's tool says 10.
TEST(OneDispatch, HostProgramsThatOverlapCountWhole) {
  const RuntimeLog run = log();
  const DebugInfo info = debug();
  const auto annotation = annotate(run, info);
  ASSERT_TRUE(annotation);
  for (const OverviewRules rules : {OverviewRules::own, OverviewRules::vendor}) {
    const Overview overview = overview_of(*annotation, rules);
    EXPECT_EQ(overview.of(OverviewMetric::host), 52'000);
    EXPECT_EQ(overview.of(OverviewMetric::host_pending), 10'000);
  }
}

// 5,000 times as slow as its estimate: no hardware is.
TEST(OneDispatch, ASimulatorsRunIsKnown) {
  const DebugInfo info = debug();
  RuntimeLog run = log();
  EXPECT_EQ(make_profile(run, &info).provenance.simulator_slowdown, 0);
  for (LogEvent& event : run.events) event.time_us *= 1000;
  EXPECT_NEAR(make_profile(run, &info).provenance.simulator_slowdown, 40e3 / 0.625, 1);
}

TEST(OneDispatch, LramIsInUseFromTheFirstTaskToTheLast) {
  const DebugInfo info = debug();
  const auto profile = make_profile(info.dispatches.front(), &info);
  ASSERT_TRUE(profile);
  std::string text;
  for (const Measure& each : profile->measures) {
    text += fmt::format("{}: {}\n", profile->text(each.what), each.value);
  }
  EXPECT_EQ(text,
            "DMA behind compute: 135\nexposed DMA: 265\nNSS code blocks fetched: 2\n"
            "LRAM bytes in use: 768\nbytes kept in LRAM between kernels: 640\n");
}

}  // namespace
}  // namespace npuscope::torq::one_dispatch_test
