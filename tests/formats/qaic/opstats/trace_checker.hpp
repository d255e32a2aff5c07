// A slow, independent reading of a trace as viewers read it: what would be an import error, or an
// event drawn in the wrong place, is a problem here.
#pragma once

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "formats/qaic/opstats/flow_binding.hpp"

namespace npuscope::test {

struct CheckedTrace {
  std::vector<nlohmann::json> events;
  std::vector<std::string> problems;
  std::map<std::pair<long, long>, std::string> track_names;

  std::vector<nlohmann::json> slices(const std::string& track) const {
    std::vector<nlohmann::json> found;
    for (const auto& event : events) {
      if (event["ph"] == "X" && track_names.at({event["pid"], event["tid"]}) == track) {
        found.push_back(event);
      }
    }
    return found;
  }
  std::set<std::string> tracks() const {
    std::set<std::string> names;
    for (const auto& [key, name] : track_names) names.insert(name);
    return names;
  }
};

class TraceChecker {
 public:
  explicit TraceChecker(const std::string& path) {
    std::ifstream in(path);
    text_ = {std::istreambuf_iterator<char>(in), {}};
  }

  CheckedTrace run() {
    const auto document = nlohmann::json::parse(text_, nullptr, false);
    if (!document.is_object() || !document.contains("traceEvents")) {
      problem("not a JSON object with traceEvents");
      return trace_;
    }
    for (const auto& event : document["traceEvents"]) trace_.events.push_back(event);
    check_lines();
    for (const auto& event : trace_.events) check_event(event);
    const std::pair<const char*, TimeReading> readings[] = {
        {"cut to nanoseconds", nanoseconds_cut},
        {"rounded to nanoseconds", nanoseconds_rounded},
        {"as doubles", as_double}};
    for (const auto& [reading, read] : readings) {
      check_overlap(reading, read);
      check_bindings(reading, read);
    }
    check_flows();
    return trace_;
  }

 private:
  void problem(std::string what) { trace_.problems.push_back(std::move(what)); }

  // One event a line, lines end with a comma, the last without.
  void check_lines() {
    std::istringstream lines(text_);
    std::string line;
    std::getline(lines, line);
    for (std::size_t i = 0; i < trace_.events.size(); ++i) {
      std::getline(lines, line);
      const bool last = i + 1 == trace_.events.size();
      if (line.ends_with(',') == last) problem("comma at the end of line " + line);
      if (!last && !line.empty()) line.pop_back();
      if (nlohmann::json::parse(line, nullptr, false) != trace_.events[i]) {
        problem("more or less than one event on line " + line);
      }
    }
    std::getline(lines, line);
    if (line != "]}" || std::getline(lines, line)) problem("does not end with ]}");
  }

  void check_event(const nlohmann::json& event) {
    const std::string phase = event["ph"];
    if (phase == "M") {
      if (event["name"] == "thread_name") {
        const auto key = std::pair<long, long>(event["pid"], event["tid"]);
        if (!trace_.track_names.emplace(key, event["args"]["name"]).second) {
          problem("a track is named twice: " + event.dump());
        }
      }
      return;
    }
    if (!event["ts"].is_number() || event["ts"] < 0) problem("time before 0: " + event.dump());
    if (phase == "C") return;
    if (!trace_.track_names.contains({event["pid"], event["tid"]})) {
      problem("on a track without a name: " + event.dump());
    }
    for (const auto& [key, value] : event["args"].items()) {
      if (!value.is_string()) problem("arg that is no string: " + event.dump());
    }
    if (phase != "X") return;
    if (!event["dur"].is_number() || event["dur"] < 0) problem("negative: " + event.dump());
    by_track_[{event["pid"], event["tid"]}].push_back(&event);
  }

  void check_overlap(const std::string& reading, TimeReading read) {
    for (auto& [key, events] : by_track_) {
      double end = 0;
      for (const auto* event : events) {  // in file order, which is order of time on a track
        const double start = read((*event)["ts"].get<double>());
        if (start < end) {
          problem("overlaps its predecessor " + reading + ": " + event->dump());
        }
        end = start + read((*event)["dur"].get<double>());
      }
    }
  }

  // Both ends bind to a slice of the op that they name, and not to its wait.
  void check_bindings(const std::string& reading, TimeReading read) {
    const FlowBinder binder(trace_.events, read);
    for (const auto& event : trace_.events) {
      if (event["ph"] != "s" && event["ph"] != "f") continue;
      const nlohmann::json* slice = binder.slice_of(event);
      if (slice == nullptr) {
        problem("binds to no slice, times " + reading + ": " + event.dump());
      } else if ((*slice)["args"]["oc"] != event["args"]["oc"] ||
                 (*slice)["name"].get<std::string>().starts_with("sync ")) {
        problem("binds to another slice, times " + reading + ": " + event.dump() + " to " +
                slice->dump());
      }
    }
  }

  void check_flows() {
    std::map<long, const nlohmann::json*> open, closed;
    for (const auto& event : trace_.events) {
      const std::string phase = event["ph"];
      if (phase != "s" && phase != "f") continue;
      auto& ends = phase == "s" ? open : closed;
      if (!ends.emplace(event["id"], &event).second) problem("id used twice: " + event.dump());
      if (event["cat"] != "true" && event["cat"] != "false") problem("category: " + event.dump());
    }
    for (const auto& [id, begin] : open) {
      if (!closed.contains(id)) {
        problem("never arrives: " + begin->dump());
      } else if (nanoseconds_cut((*begin)["ts"].get<double>()) >=
                 nanoseconds_cut((*closed[id])["ts"].get<double>())) {
        problem("arrives before it left: " + begin->dump());
      } else if ((*begin)["cat"] != (*closed[id])["cat"]) {
        problem("changes its category: " + begin->dump());
      }
    }
    for (const auto& [id, end] : closed) {
      if (!open.contains(id)) problem("never left: " + end->dump());
    }
  }

  std::string text_;
  CheckedTrace trace_;
  std::map<std::pair<long, long>, std::vector<const nlohmann::json*>> by_track_;
};

}  // namespace npuscope::test
