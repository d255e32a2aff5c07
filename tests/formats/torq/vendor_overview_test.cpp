// The overview as the vendor's tools compute it, against the documented computation done slowly and
// by itself: from the events of random logs, microsecond by microsecond.
#include <gmock/gmock.h>

#include <random>

#include "formats/torq/files.hpp"
#include "formats/torq/overview.hpp"

namespace npuscope::torq::vendor_overview_test {
namespace {

struct Event {
  std::string dispatch;
  int invocation = 0, action = -1, time = 0;
  std::string name;
};

using Times = std::vector<std::pair<int, int>>;  // begin and end

// What the vendor's scripts make of a log: work units by kind. Those with one end count towards the
// first begin and the last end alone.
struct VendorRun {
  Times nss[2], host, copy, hal;
  std::optional<int> first_begin, last_end;

  void add(Times& to, std::optional<int> begin, std::optional<int> end) {
    if (begin) first_begin = std::min(first_begin.value_or(*begin), *begin);
    if (end) last_end = std::max(last_end.value_or(*end), *end);
    if (begin && end) to.emplace_back(*begin, *end);
  }
};

// One stack an invocation and name; what has no partner has length zero; a call as a whole only
// where the invocation has nothing else.
void add_hal(VendorRun& run, const std::vector<Event>& events) {
  std::map<std::string, std::vector<int>> open;
  std::vector<std::pair<std::string, std::pair<int, int>>> done;
  bool has_details = false;
  for (const Event& event : events) {
    const auto cut = event.name.rfind('_');
    const std::string suffix = event.name.substr(cut + 1);
    const bool has_edge = suffix == "BEGIN" || suffix == "END";
    const std::string name = has_edge ? event.name.substr(0, cut) : event.name;
    has_details |= name != "HAL_CALL";
    if (suffix == "BEGIN") {
      open[name].push_back(event.time);
    } else if (suffix == "END" && !open[name].empty()) {
      done.push_back({name, {open[name].back(), event.time}});
      open[name].pop_back();
    } else {
      done.push_back({name, {event.time, event.time}});
    }
  }
  for (const auto& [name, times] : open) {
    for (const int time : times) done.push_back({name, {time, time}});
  }
  for (const auto& [name, times] : done) {
    if (has_details && name == "HAL_CALL") continue;
    run.add(run.hal, std::min(times.first, times.second), std::max(times.first, times.second));
  }
}

VendorRun run_of(const std::vector<Event>& log) {
  std::map<int, std::vector<Event>> invocations;
  for (const Event& event : log) invocations[event.invocation].push_back(event);
  VendorRun run;
  for (const auto& [id, events] : invocations) {
    if (events.front().dispatch.starts_with("__HAL")) {
      add_hal(run, events);
      continue;
    }
    std::map<int, std::optional<int>> begin, end;
    for (const Event& event : events) {
      (event.name.ends_with("_BEGIN") ? begin : end)[event.action] = event.time;
    }
    // As tests/data/torq/debug_info has them.
    run.add(run.copy, begin[0], end[0]);
    run.add(run.nss[0], begin[1], end[2]);
    run.add(run.nss[1], begin[3], end[4]);
    run.add(run.host, begin[5], end[6]);
  }
  return run;
}

std::string line(const std::string& label, int microseconds, std::optional<double> percent) {
  const double value = microseconds;
  std::string text = microseconds == 0     ? "0ns"
                     : microseconds < 1000 ? fmt::format("{:.3f}µs", value)
                                           : fmt::format("{:.3f}ms", value / 1000);
  const std::size_t characters = text.size() - (text.find("µ") != text.npos);
  text = std::string(14 - characters, ' ') + text;
  const std::string share = percent ? fmt::format("  ({:.2f}%)", *percent) : "";
  return fmt::format("  {:<26} {}{}\n", label, text, share);
}

std::string vendor_table(const VendorRun& run) {
  constexpr int end_of_time = 2000;
  const auto in = [](const Times& times, int at) {
    return std::any_of(times.begin(), times.end(),
                       [&](const auto& each) { return each.first <= at && at < each.second; });
  };
  std::map<std::string, int> sum;
  int busy = 0, bare_host = 0;
  for (int at = 0; at < end_of_time; ++at) {
    // Program 0 uses both slices and DMA In, program 1 slice 1 and DMA Out; nothing else is used.
    const bool first = in(run.nss[0], at), second = in(run.nss[1], at);
    const bool npu = first || second, hal = in(run.hal, at), copy = in(run.copy, at),
               host = in(run.host, at);
    sum["Dma"] += npu;
    sum["Dma Total"] += npu;
    sum["Dma In"] += first;
    sum["Dma Out"] += second;
    sum["Compute"] += npu;
    sum["Slice"] += npu;
    sum["Slice 0"] += first;
    sum["Slice 1"] += npu;
    sum["Overlap"] += npu;
    sum["Hal"] += hal;
    sum["Host"] += host;
    sum["Host Copy"] += copy;
    busy += npu || hal || copy || host;
    bare_host += (copy || host) && !npu && !hal;
  }
  int begin = end_of_time, end = -1;
  for (const Times* times : {&run.nss[0], &run.nss[1], &run.copy, &run.host}) {
    for (const auto& each : *times) {
      begin = std::min(begin, each.first);
      end = std::max(end, each.second);
    }
  }
  const int overall = run.first_begin && run.last_end ? *run.last_end - *run.first_begin : 0;
  sum["Idle"] = overall >= busy ? overall - busy : 0;
  std::string text = "  Model: m\n  ";
  for (int i = 0; i < 52; ++i) text += "─";
  text += "\n" + line("OVERALL", overall, {});
  text += line("TOTAL NPU OPERATIONS", std::max(0, (end < 0 ? 0 : end - begin) - bare_host), {});
  for (const char* label :
       {"Dma", "Dma Only", "Dma Total", "Cdma", "Dma In", "Dma Out", "Compute", "Compute Only",
        "Slice", "Slice 0", "Slice 1", "Css", "Overlap", "Idle", "Hal", "Host", "Host Copy"}) {
    text += line(label, sum[label], overall > 0 ? double(sum[label]) / overall * 100 : 0);
  }
  return text + "\n";
}

// Invocations that overlap, without HAL in every second log, and in every third with events lost.
std::vector<Event> random_log(std::mt19937& random, bool with_hal, bool with_losses) {
  std::vector<Event> log;
  const auto lost = [&] { return with_losses && random() % 8 == 0; };
  const auto add = [&](const Event& event) {
    if (!lost()) log.push_back(event);
  };
  int id = 0;
  for (unsigned i = 0; i < 1 + random() % 4; ++i, ++id) {
    int time = int(random() % 300);
    constexpr const char* types[] = {"HOST_COPY", "NSS_START",  "NSS_WAIT", "NSS_START",
                                     "NSS_WAIT",  "HOST_START", "HOST_WAIT"};
    for (int action = 0; action < 7; ++action) {
      time += int(random() % 5);
      add({"main_dispatch_0", id, action, time, std::string(types[action]) + "_BEGIN"});
      time += int(random() % 40);
      add({"main_dispatch_0", id, action, time, std::string(types[action]) + "_END"});
    }
  }
  for (unsigned i = 0; with_hal && i < random() % 4; ++i, ++id) {
    const std::string names[] = {"HAL_CALL", "HAL_QUEUE_WAIT", "HAL_CALL"};
    int time = int(random() % 400);
    const unsigned kinds = 1 + random() % 2;
    add({"__HAL_QUEUE_EXECUTE__", id, -1, time, names[0] + "_BEGIN"});
    for (unsigned k = 0; k < kinds; ++k) {
      const std::string& name = names[random() % 3];
      add({"__HAL_QUEUE_EXECUTE__", id, -1, time += int(random() % 30), name + "_BEGIN"});
      add({"__HAL_QUEUE_EXECUTE__", id, -1, time += int(random() % 30), name + "_END"});
    }
    if (random() % 3 == 0) {
      add({"__HAL_QUEUE_EXECUTE__", id, -1, time, "HAL_QUEUE_SIGNALLED"});
    }
    add({"__HAL_QUEUE_EXECUTE__", id, -1, time + int(random() % 30), names[0] + "_END"});
  }
  return log;
}

// 161 of 400 random logs differed: no HAL, programs that overlap, lost starts.
TEST(VendorOverview, TheMetricsTableIsTheVendorsForRandomLogs) {
  const auto debug = load_debug_info(std::filesystem::path(data("debug_info")));
  ASSERT_TRUE(debug) << debug.error().message;
  std::mt19937 random(161);
  for (int round = 0; round < 600; ++round) {
    const auto events = random_log(random, round % 2 == 0, round % 3 == 0);
    std::string text = "dispatch_name,invocation_id,action_id,timestamp_us,event\n";
    for (const Event& each : events) {
      text += fmt::format("{},{},{},{},{}\n", each.dispatch, each.invocation, each.action,
                          each.time, each.name);
    }
    const auto source = source_of(text);
    const auto log = read_log(*source);
    ASSERT_TRUE(log) << log.error().message;
    const auto annotation = annotate(*log, *debug);
    ASSERT_TRUE(annotation) << annotation.error().message << text;
    Overview overview = overview_of(*annotation, OverviewRules::vendor);
    overview.model = "m";
    ASSERT_EQ(print_overview(std::span(&overview, 1), OverviewStyle::metrics),
              vendor_table(run_of(events)))
        << text;
  }
}

}  // namespace
}  // namespace npuscope::torq::vendor_overview_test
