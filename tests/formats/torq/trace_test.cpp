// A trace written while its slices are made, against its slow twin that holds them all.
#include "formats/torq/trace.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <random>

#include "formats/torq/annotate/pairing.hpp"
#include "formats/torq/files.hpp"
#include "formats/torq/whole_trace.hpp"
#include "sanitized.hpp"

namespace npuscope::torq::trace_test {
namespace {

namespace fs = std::filesystem;

// The dispatch of the test data, and it again under another name.
class Trace : public ::testing::Test {
 protected:
  Trace() {
    folder_ = fs::path(::testing::TempDir()) / ("torq_trace_" + std::to_string(::getpid()));
    fs::create_directories(folder_ / "debug");
    std::string text = contents(data("debug_info/main_dispatch_0.mlir"));
    for (const char* name : {"main_dispatch_0", "main_dispatch_1"}) {
      text.replace(text.find("@main_dispatch_") + 1, std::string_view(name).size(), name);
      std::ofstream(folder_ / "debug" / (std::string(name) + ".mlir")) << text;
    }
    one_ = *load_debug_info(fs::path(data("debug_info")));
    two_ = *load_debug_info(folder_ / "debug", {fs::path(data("."))});
  }
  ~Trace() override { fs::remove_all(folder_); }

  fs::path folder_;
  DebugInfo one_, two_;
};

std::string streamed(const Annotation& annotation, double mhz) {
  const AnnotatedTrace trace(annotation, mhz);
  const perfetto::TraceContent contents[] = {trace.content()};
  std::string bytes;
  perfetto::write_trace(contents, [&](std::string_view piece) { bytes += piece; });
  return bytes;
}

std::string whole(const Annotation& annotation, double mhz) {
  const Profile profile = test::whole_trace(annotation, mhz);
  const Profile* const profiles[] = {&profile};
  std::string bytes;
  perfetto::write_trace(profiles, [&](std::string_view piece) { bytes += piece; });
  return bytes;
}

struct Shape {
  bool interleaves = false;  // invocations run at once
  int lost_percent = 0;
  bool is_odd = false;  // times go backward, are negative or huge
  bool is_cut = false;  // in the middle of a row
};

class RandomLog {
 public:
  RandomLog(std::uint32_t seed, Shape shape) : random_(seed), shape_(shape) {}

  std::string dispatches() {
    std::int64_t now = 1000, id = 0;
    for (unsigned i = 0; i < 2 + below(12); ++i) {
      if (below(2) == 0) add_hal(id++, now);
      const std::int64_t end = add_invocation(id++, now);
      now = shape_.interleaves ? now + std::int64_t(below(6)) : end + std::int64_t(below(3));
    }
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const Row& a, const Row& b) { return a.time < b.time; });
    std::string text = "dispatch_name,invocation_id,action_id,timestamp_us,event\n";
    for (const Row& row : rows_) {
      if (below(100) < std::uint64_t(shape_.lost_percent)) continue;
      text += fmt::format("{},{},{},{},{}\n", row.dispatch, row.id, row.action, odd(row.time),
                          row.event);
    }
    if (shape_.is_cut) text.resize(text.size() - below(text.size() / 2));
    return text;
  }

  std::string host() {
    std::string text = "actionIndex, elapsed_time(us), timestamp(us), event, location\n";
    std::int64_t now = 5000;
    const auto row = [&](int action, std::string_view event) {
      now += std::int64_t(below(4));
      if (below(100) < std::uint64_t(shape_.lost_percent)) return;
      text += fmt::format("{},{},{},{},loc(unknown)\n", action, now - 5000, odd(now), event);
    };
    for (unsigned i = 0; i < 1 + below(5); ++i) {
      row(0, "HOST_COPY_START");
      row(0, "HOST_COPY_END");
      for (const int start : {1, 3}) {
        row(start, "NSS_START");
        row(start, "NSS_START_END");
        row(start + 1, "NSS_WAIT_START");
        row(start + 1, "NSS_WAIT_END");
      }
      row(5, "HOST_PROGRAM_START");
      row(5, "HOST_PROGRAM_END");
    }
    return text;
  }

  std::string jobs() {
    std::string text = "id;time_since_open;time_since_start;location\n";
    std::int64_t now = 100;
    for (unsigned i = 0; i < 2 + below(10); ++i) {
      now += std::int64_t(below(30));
      text += fmt::format("{};{};{};loc(unknown)\n", i % 2, odd(now), below(30));
    }
    return text;
  }

 private:
  struct Row {
    std::string dispatch;
    std::int64_t id = 0;
    int action = -1;
    std::int64_t time = 0;
    std::string event;
  };

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  std::int64_t odd(std::int64_t time) {
    if (!shape_.is_odd || below(10) != 0) return time;
    const std::int64_t huge = std::int64_t{1} << 50;  // microseconds: beyond what a trace holds
    const std::int64_t odd_times[] = {time - 5, time + 7, 0, -time, -20 * time, huge};
    return odd_times[below(std::size(odd_times))];
  }
  void add(const Row& row, std::string_view name, std::int64_t begin, std::int64_t end) {
    rows_.push_back({row.dispatch, row.id, row.action, begin, fmt::format("{}_BEGIN", name)});
    rows_.push_back({row.dispatch, row.id, row.action, end, fmt::format("{}_END", name)});
  }

  std::int64_t add_invocation(std::int64_t id, std::int64_t now) {
    Row row{fmt::format("main_dispatch_{}", below(2)), id, -1, 0, ""};
    constexpr std::pair<int, const char*> actions[] = {
        {0, "HOST_COPY"}, {1, "NSS_START"},  {2, "NSS_WAIT"}, {3, "NSS_START"},
        {4, "NSS_WAIT"},  {5, "HOST_START"}, {6, "HOST_WAIT"}};
    add(row, "DISPATCH", now, now + 1);
    for (const auto& [action, name] : actions) {
      const std::int64_t end = now + std::int64_t(below(4));
      row.action = action;
      add(row, name, now, end);
      now = below(4) == 0 ? now : end;
    }
    return now;
  }

  void add_hal(std::int64_t id, std::int64_t now) {
    Row row{below(2) == 0 ? "__HAL_QUEUE_EXECUTE__" : "__HAL_COMMAND_BUFFER_DISPATCH__", id, -1, 0,
            ""};
    add(row, "HAL_CALL", now, now + std::int64_t(below(30)));
    for (unsigned i = 0; i < below(4); ++i) {
      const std::int64_t begin = now + std::int64_t(below(10));
      add(row, below(2) == 0 ? "HAL_QUEUE_WAIT" : "HAL_QUEUE_SIGNAL", begin,
          begin + std::int64_t(below(10)));
    }
  }

  std::mt19937 random_;
  Shape shape_;
  std::vector<Row> rows_;
};

std::string text_of(const Annotation& annotation) {
  std::string text = lines_of(annotation.notes);
  for (const AnnotatedInvocation& each : annotation.invocations) {
    text += fmt::format("{} {} {}\n", each.id, each.dispatch, each.first);
  }
  for (std::size_t i = 0; i < annotation.begin_us.size(); ++i) {
    text += fmt::format("{} {}\n", annotation.begin_us[i], annotation.end_us[i]);
  }
  for (const HalCall& call : annotation.hal) {
    text += fmt::format("{} {} {} {}\n", annotation.strings[call.dispatch],
                        annotation.strings[call.type], call.begin_us, call.end_us);
  }
  return text + coverage_text(annotation.pairing);
}

constexpr Shape shapes[] = {{},
                            {.interleaves = true},
                            {.lost_percent = 5},
                            {.interleaves = true, .lost_percent = 20, .is_cut = true},
                            {.interleaves = true, .lost_percent = 5, .is_odd = true}};

// Clocks at which estimates end long before, and long after what was measured; without estimates.
constexpr double clocks[] = {800, 10, 0.5, 0};

TEST_F(Trace, OfRandomLogsIsThatOfItsSlowTwin) {
  std::uint64_t compared = 0;
  for (std::uint32_t seed = 0; seed < test_support::rounds(400); ++seed) {
    const Shape& shape = shapes[seed % std::size(shapes)];
    const std::string texts[] = {RandomLog(seed, shape).dispatches(), RandomLog(seed, shape).host(),
                                 RandomLog(seed, shape).jobs()};
    for (const std::string& text : texts) {
      const DebugInfo& debug = &text == texts ? two_ : one_;
      const auto source = source_of(text);
      const auto annotation = annotate(*source, debug);
      if (!annotation) continue;  // what was lost makes it a log of another model
      ++compared;
      const double mhz = clocks[seed / std::size(shapes) % std::size(clocks)];
      ASSERT_TRUE(streamed(*annotation, mhz) == whole(*annotation, mhz)) << seed << "\n" << text;
    }
  }
  EXPECT_GT(compared, test_support::rounds(1000));
}

// The vendor's files: the twin's trace is the reference of this one, the sample's of both.
TEST_F(Trace, OfTheSampleIsThatOfItsSlowTwin) {
  if (!have_samples()) GTEST_SKIP();
  const auto debug = load_debug_info(fs::path(sample("debug_info")), {fs::path(sample("."))});
  ASSERT_TRUE(debug);
  for (const char* name :
       {"runtime_new.csv", "runtime_old_host_quoted.csv", "runtime_old_nss.csv"}) {
    const auto source = open_byte_source(fs::path(sample(name)));
    const auto annotation = annotate(**source, *debug);
    ASSERT_TRUE(annotation) << annotation.error().message;
    EXPECT_EQ(streamed(*annotation, 800), whole(*annotation, 800)) << name;
  }
}

TEST_F(Trace, AnAnnotationOfALogThatIsNotHeldIsThatOfTheLog) {
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    const std::string text = RandomLog(seed, shapes[seed % std::size(shapes)]).dispatches();
    const auto source = source_of(text), again = source_of(text);
    const auto log = read_log(*again);
    ASSERT_TRUE(log);
    const auto held = annotate(*log, two_);
    const auto not_held = annotate(*source, two_);
    ASSERT_EQ(held.has_value(), not_held.has_value());
    if (!held) {
      EXPECT_EQ(held.error().message, not_held.error().message);
    } else {
      EXPECT_EQ(text_of(*held), text_of(*not_held)) << text;
    }
  }
}

// Nothing lies in a program that begins and ends in the same microsecond, so that its operator's
// total was drawn at the end of time.
TEST_F(Trace, TotalsOfProgramsWithoutLengthBeginWithTheFirst) {
  const std::string text =
      "dispatch_name,invocation_id,action_id,timestamp_us,event\n"
      "main_dispatch_0,1,1,70,NSS_START_BEGIN\nmain_dispatch_0,1,1,70,NSS_START_END\n"
      "main_dispatch_0,1,2,70,NSS_WAIT_BEGIN\nmain_dispatch_0,1,2,70,NSS_WAIT_END\n";
  const auto source = source_of(text);
  const auto annotation = annotate(*source, one_);
  ASSERT_TRUE(annotation);
  const AnnotatedTrace trace(*annotation, 0);
  const Profile& profile = *trace.content().profile;
  int totals = 0;
  for (std::uint32_t unit = 0; unit < profile.units.size(); ++unit) {
    const UnitId parent = profile.units[unit].parent;
    if (parent == UnitId::none) continue;
    if (profile.text(profile.units[index_of(parent)].name) != "Operator Type Totals") continue;
    perfetto::PlacedSpan span;
    ASSERT_TRUE(trace.spans_of(UnitId(unit))->next(span));
    EXPECT_EQ(span.start, 70'000);
    ++totals;
  }
  EXPECT_GT(totals, 0);
}

TEST(InvocationNumbers, AreThoseOfAMap) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 50; ++round) {
    InvocationNumbers numbers;
    std::map<std::int64_t, std::uint32_t> expected;
    std::int64_t last = 0;
    for (int i = 0; i < 400; ++i) {
      const std::int64_t ids[] = {last + std::int64_t(random() % 3),
                                  last - std::int64_t(random() % 9), std::int64_t(random() % 50),
                                  std::int64_t(random())};
      const std::int64_t id = ids[random() % (round % 2 == 0 ? 3 : 4)];
      last = std::clamp<std::int64_t>(id, 0, 1000);
      const auto known = expected.try_emplace(id, std::uint32_t(expected.size())).first;
      ASSERT_EQ(numbers.of(id), known->second) << id;
    }
  }
}

}  // namespace
}  // namespace npuscope::torq::trace_test
