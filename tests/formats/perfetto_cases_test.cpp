// Traces of Perfetto's importer tests, and what Perfetto makes of them (tests/data/perfetto_cases).
// npuscope makes the same of them but for the differences in `meant`, each with its reason.
//
// Beside those, everywhere: a slice that is not closed has a length in npuscope, until the last
// time of the trace or of its thread; a process or thread without a name is "Process 5", "Thread
// 6"; and asynchronous events of the JSON format stay on the thread that wrote them, where Perfetto
// makes a track for each id.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "npuscope/formats/open.hpp"

namespace npuscope::perfetto_cases_test {
namespace {

namespace fs = std::filesystem;

enum Aspect : unsigned {
  extra_slices = 1,
  missing_slices = 2,
  arrows = 4,
  places = 8,
  counters = 16
};

struct Meant {
  std::string_view trace;  // how its name begins
  unsigned differs;
  std::string_view reason;
};

constexpr std::string_view not_track_events =
    "npuscope reads track events; slices of ftrace, frames and GPU stages, and the names in "
    "process "
    "trees, it counts as packets that it does not read";
constexpr std::string_view no_translation =
    "npuscope shows the names that were recorded, not those that a translation table puts in their "
    "place";
constexpr std::string_view kept_with_warning =
    "what has a bad time or length Perfetto drops; npuscope keeps it, with a warning, where it is";
constexpr std::string_view one_number_one_process =
    "a number is one process or thread to npuscope throughout a trace, under its first name; "
    "Perfetto "
    "makes another of each descriptor";

constexpr Meant meant[] = {
    {"AndroidMetrics_android_blocking_calls_on_jank_cujs",
     missing_slices | arrows | counters | places, not_track_events},
    {"ChromeParser_chrome_thread_is_sandboxed_tid", extra_slices,
     "an event whose counter has no track: Perfetto drops all of it, npuscope the counter's value"},
    {"GraphicsGpuTrace_gpu_render_stages_flow", missing_slices | arrows, not_track_events},
    {"JsonParser_invalid_string_ts_and_dur", extra_slices, kept_with_warning},
    {"JsonParser_json_extreme_vals", extra_slices, kept_with_warning},
    {"JsonParser_json_metadata", places,
     "an event without a tid is one of its process, not of a thread that has the process's number"},
    {"JsonParser_json_thread_state", extra_slices,
     "T is a step of an asynchronous event (the format's own meaning); Perfetto reads those of the "
     "category thread_state as scheduling"},
    {"JsonParser_string_ts_trailing_chars", extra_slices, kept_with_warning},
    {"TrackEvent_streaming_profile_timestamp_delta_overflow", extra_slices,
     "the reference time that breaks comes from packets that npuscope does not read"},
    {"TrackEvent_track_event_descriptions", places, one_number_one_process},
    {"TrackEvent_track_event_out_of_order_state_descriptors", extra_slices,
     "a state is a slice that lasts until the next; Perfetto keeps states in a table of their own"},
    {"TrackEvent_track_event_tracks_machine_id", places, one_number_one_process},
    {"TrackEvent_track_event_with_atrace", missing_slices, not_track_events},
    {"TranslatedArgs_process_track_name", places, no_translation},
    {"TranslatedArgs_slice_name", extra_slices | missing_slices, no_translation},
};

const nlohmann::json& all_expected() {
  static const nlohmann::json expected = nlohmann::json::parse(
      std::ifstream(std::string(NPUSCOPE_TEST_DATA) + "/perfetto_cases/expected.json"));
  return expected;
}

std::string text_or(const nlohmann::json& value, const char* other) {
  return value.is_null() ? other : value.is_string() ? value.get<std::string>() : value.dump();
}

struct Slice {
  std::string name;
  std::int64_t start = 0;
  std::int64_t duration = 0;  // -1: not closed
  std::string place;          // process and thread with their numbers, track; "": not compared
  std::string text() const { return fmt::format("{} {} +{}", name, start, duration); }
};

struct Content {
  std::vector<Slice> slices;
  std::vector<std::pair<std::size_t, std::size_t>> arrows;
  std::multiset<std::string> counters;
};

std::string place_text(const std::string& process, const std::string& thread,
                       const std::string& track) {
  return fmt::format("process {} thread {} track {}", process, thread, track);
}

Content expected_of(const std::string& trace) {
  Content content;
  const auto& expected = all_expected()[trace];
  for (const auto& slice : expected["slices"]) {
    const std::string type = slice["track_type"];
    const bool async = type.find("legacy_async") != type.npos;
    const auto named = [&](const char* id, const char* name) {
      return text_or(slice[id], "-") + " " + text_or(slice[name], "-");
    };
    content.slices.push_back({text_or(slice["name"], ""), slice["ts"], slice["dur"],
                              async ? ""
                                    : place_text(named("pid", "process"), named("tid", "thread"),
                                                 text_or(slice["track_name"], "-"))});
  }
  for (const auto& arrow : expected["flows"]) content.arrows.emplace_back(arrow[0], arrow[1]);
  for (const auto& sample : expected["counters"]) {
    content.counters.insert(fmt::format("{} {}", sample[1].dump(), double(sample[2])));
  }
  return content;
}

// "5 main"; "-" for what says no more than its number.
std::string named(const Profile& profile, const Unit& unit, StringId number,
                  const char* otherwise) {
  const std::string id(profile.text(number)), name(profile.text(unit.name));
  return id + " " + (name == fmt::format("{} {}", otherwise, id) ? "-" : name);
}

std::string place_of(const Profile& profile, UnitId unit) {
  std::string process = "- -", thread = "- -", track = "-";
  for (bool first = true; unit != UnitId::none; unit = profile.units[index_of(unit)].parent) {
    const Unit& here = profile.units[index_of(unit)];
    if (here.engine == Engine::process) {
      process = named(profile, here, here.process_id, "Process");
    } else if (here.engine == Engine::thread) {
      if (thread == "- -") thread = named(profile, here, here.thread_id, "Thread");
    } else if (first) {
      track = profile.text(here.name);
    }
    first = false;
  }
  return place_text(process, thread, track);
}

Content content_of(const Profile& profile) {
  Content content;
  const Spans& spans = profile.spans;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const Op& op = profile.ops[index_of(spans.op[row])];
    const bool async = spans.kind[row] == SpanKind::async;
    content.slices.push_back({std::string(profile.text(op.name)), spans.start[row],
                              spans.duration[row],
                              async ? "" : place_of(profile, spans.unit[row])});
  }
  for (const Flow& flow : profile.flows) {
    content.arrows.emplace_back(index_of(flow.from), index_of(flow.to));
  }
  const Counters& samples = profile.counters;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    content.counters.insert(fmt::format("{} {}", samples.time[i], samples.value[i]));
  }
  return content;
}

// What Perfetto leaves open has no length to compare.
void leave_open(Content& ours, const Content& theirs) {
  std::multimap<std::pair<std::string, std::int64_t>, std::int64_t> open;
  for (const Slice& slice : theirs.slices) {
    if (slice.duration < 0) open.emplace(std::pair(slice.name, slice.start), 0);
  }
  for (Slice& slice : ours.slices) {
    const auto found = open.find({slice.name, slice.start});
    if (found == open.end()) continue;
    slice.duration = -1;
    open.erase(found);
  }
}

std::multiset<std::string> less(const std::multiset<std::string>& a,
                                const std::multiset<std::string>& b) {
  std::multiset<std::string> result;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(result, result.end()));
  return result;
}

class Comparison {
 public:
  Comparison(const Content& ours, const Content& theirs) {
    const auto texts = [](const Content& content) {
      std::multiset<std::string> rows;
      for (const Slice& slice : content.slices) rows.insert(slice.text());
      return rows;
    };
    const auto extra = less(texts(ours), texts(theirs));
    const auto missing = less(texts(theirs), texts(ours));
    add(extra_slices, "slices of npuscope alone", extra);
    add(missing_slices, "slices of Perfetto alone", missing);
    const auto joined = [](const Content& content) {
      std::multiset<std::string> rows;
      for (const auto& [from, to] : content.arrows) {
        rows.insert(content.slices[from].text() + " -> " + content.slices[to].text());
      }
      return rows;
    };
    add(arrows, "arrows of npuscope alone", less(joined(ours), joined(theirs)));
    add(arrows, "arrows of Perfetto alone", less(joined(theirs), joined(ours)));
    add(counters, "counters of npuscope alone", less(ours.counters, theirs.counters));
    add(counters, "counters of Perfetto alone", less(theirs.counters, ours.counters));
    std::set<std::string> uncompared;
    for (const Content* content : {&ours, &theirs}) {
      for (const Slice& slice : content->slices) {
        if (slice.place.empty()) uncompared.insert(slice.text());
      }
    }
    const auto placed = [&](const Content& content) {
      std::multiset<std::string> rows;
      for (const Slice& slice : content.slices) {
        const std::string text = slice.text();
        if (uncompared.contains(text) || extra.contains(text) || missing.contains(text)) continue;
        rows.insert(text + " on " + slice.place);
      }
      return rows;
    };
    add(places, "places of npuscope alone", less(placed(ours), placed(theirs)));
    add(places, "places of Perfetto alone", less(placed(theirs), placed(ours)));
  }

  unsigned differs() const { return differs_; }
  const std::string& text() const { return text_; }

 private:
  void add(Aspect aspect, const char* what, const std::multiset<std::string>& rows) {
    if (rows.empty()) return;
    differs_ |= aspect;
    text_ += fmt::format("{}:\n", what);
    for (const std::string& row : rows) text_ += "  " + row + "\n";
  }

  unsigned differs_ = 0;
  std::string text_;
};

std::vector<std::string> all_traces() {
  std::vector<std::string> names;
  for (const auto& [name, content] : all_expected().items()) names.push_back(name);
  return names;
}

class PerfettoCases : public ::testing::TestWithParam<std::string> {};

TEST_P(PerfettoCases, AreWhatPerfettoMakesOfThem) {
  const fs::path path = fs::path(NPUSCOPE_TEST_DATA) / "perfetto_cases" / GetParam();
  const auto opened = open_profiles(std::vector{path});
  ASSERT_TRUE(opened) << opened.error().message;
  ASSERT_EQ(opened->profiles.size(), 1u);
  Content ours = content_of(opened->profiles.front());
  const Content theirs = expected_of(GetParam());
  leave_open(ours, theirs);
  const Comparison comparison(ours, theirs);
  const auto difference = std::ranges::find_if(
      meant, [&](const Meant& each) { return GetParam().starts_with(each.trace); });
  const bool any = difference != std::end(meant);
  EXPECT_EQ(comparison.differs(), any ? difference->differs : 0u)
      << comparison.text() << (any ? difference->reason : "");
}

INSTANTIATE_TEST_SUITE_P(All, PerfettoCases, ::testing::ValuesIn(all_traces()),
                         [](const auto& trace) {
                           std::string name = trace.param.substr(0, trace.param.find('-'));
                           name += "_" + std::to_string(trace.index);
                           return name;
                         });

}  // namespace
}  // namespace npuscope::perfetto_cases_test
