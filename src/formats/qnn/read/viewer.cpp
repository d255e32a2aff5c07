#include "formats/qnn/read/viewer.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "formats/qnn/read/json_text.hpp"

namespace npuscope::qnn {
namespace {

// These two are printed in microseconds and are ticks of the 19.2 MHz timer: they equal the ticks
// of RUN_TRACE, and as microseconds they would be longer than the execute that they are part of.
bool is_ticks_in_truth(std::string_view label) {
  return label == "Time for initial VTCM acquire" ||
         label == "Time for HVX + HMX power on and acquire";
}

ViewerUnit unit_of(std::string_view label, std::string_view unit) {
  const std::string name = in_small_letters(unit);
  if (label.starts_with("Missing Ops")) return ViewerUnit::count;  // printed as US
  if (name == "us" || name == "microsec" || name == "microseconds") {
    return is_ticks_in_truth(label) ? ViewerUnit::ticks : ViewerUnit::microseconds;
  }
  if (name == "cycles" || name == "cycle") return ViewerUnit::cycles;
  if (name == "ticks") return ViewerUnit::ticks;
  if (name == "count") return ViewerUnit::count;
  if (name == "bytes") return ViewerUnit::bytes;
  if (name == "inf/sec") return ViewerUnit::rate;
  return ViewerUnit::other;
}

bool starts_execute(std::string_view label) {
  return label == "Number of HVX threads used" || label.find("(execute") != std::string_view::npos;
}

// What a program does before its first execute. "(load binary)" is of a context that was compiled
// before.
bool prepares(std::string_view label) {
  return label.find("(finalize)") != std::string_view::npos ||
         label.find("(load binary)") != std::string_view::npos ||
         label.find("(init)") != std::string_view::npos;
}

}  // namespace

std::optional<NodeLabel> parse_node(std::string_view label) {
  constexpr std::string_view mark = "OpId_";
  const std::size_t at = label.rfind(mark);
  if (at == std::string_view::npos) return std::nullopt;
  NodeLabel node;
  std::string_view rest = label.substr(at + mark.size());
  const auto id = take_number<decltype(node.id)>(rest);
  if (!id) return std::nullopt;
  node.id = *id;
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  if (!rest.empty() && rest != "(cycles)") return std::nullopt;
  if (at == 0) {
    node.name = label.substr(0, label.find(' '));
    return node;
  }
  node.name = label.substr(0, at);
  const char separator = node.name.back();
  if (separator != ':' && separator != ' ' && separator != '\t') return std::nullopt;
  if (separator == ':') {
    node.name.remove_suffix(1);
  } else {
    node.name = node.name.substr(0, node.name.find_last_not_of(" \t") + 1);
  }
  if (node.name.empty()) return std::nullopt;
  return node;
}

void ViewerCollector::begin_session() {
  if (output().events.empty()) return;
  if (sessions_.size() == max_sessions) {
    return losses_.add(Severity::warning, 0,
                       "sessions beyond the first 256 of one file; taken for the last of these");
  }
  std::string version = output().version;
  sessions_.emplace_back().version = std::move(version);
  in_execute_ = false;
  is_announced_ = root_in_cycles_ = root_is_estimate_ = false;
  statistic_ = Statistic::none;
  node_.reset();
  node_name_ = section_ = graph_ = StringId::empty;
}

void ViewerCollector::begin_session_before(std::string_view label, std::uint32_t level) {
  if (level == 0 && output().executes > 0 && prepares(label)) begin_session();
}

void ViewerCollector::begin_execute(std::string_view graph) {
  in_execute_ = is_announced_ = true;
  statistic_ = Statistic::none;
  node_.reset();
  ++output().executes;
  graph_ = output().strings.intern(graph);
  output().graph_of_execute.push_back(graph_);
}

void ViewerCollector::begin_section(std::string_view section, Statistic statistic) {
  section_ = output().strings.intern(section);
  statistic_ = statistic;
  in_execute_ = is_announced_ = false;
  graph_ = StringId::empty;
  node_.reset();
}

void ViewerCollector::begin_graph(std::string_view graph) {
  graph_ = output().strings.intern(graph);
  node_.reset();
  if (in_execute_) output().graph_of_execute.back() = graph_;
}

void ViewerCollector::claim_section(std::string_view section) {
  begin_section(section);
  auto& events = output().events;
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    if (event->execute != ViewerEvent::outside || event->section != StringId::empty) return;
    event->section = section_;
  }
}

void ViewerCollector::add_delimited(const ViewerRow& row) {
  const bool first = row.label == "Number of HVX threads used";
  const bool begins = first || (!in_execute_ && starts_execute(row.label));
  if (row.level == 0 && !is_announced_ && begins) {
    begin_execute();
    is_announced_ = false;
  }
  add(row);
  if (row.label == "QNN (execute) time") {
    end_execute();
    is_announced_ = false;
  }
}

// Ops that overlap with a node are listed below its own rows, as labels of nodes.
bool ViewerCollector::is_partner(bool is_node_label, std::uint32_t level) const {
  return is_node_label && node_ && level >= node_level_ + 2;
}

void ViewerCollector::add(const ViewerRow& row) {
  if (events_ == max_events) {
    return losses_.add(Severity::error, 0,
                       fmt::format("numbers beyond the first {}; left out", thousands(max_events)));
  }
  ViewerEvent event;
  event.unit = unit_of(row.label, row.unit);
  auto node = parse_node(row.label);
  if (is_partner(node.has_value(), row.level)) return;
  const bool in_cycles = event.unit == ViewerUnit::cycles;
  const bool is_part_of_cycles =
      row.level == 1 && root_in_cycles_ && in_cycles && row.label.find(" time") == row.label.npos;
  if (!node && ((row.is_node && row.level <= 1) || is_part_of_cycles)) {
    const std::size_t end = row.label.rfind(" (cycles)");
    node = NodeLabel{row.label.substr(0, end), ViewerEvent::no_id};
  }
  ++events_;
  event.label = output().strings.intern(row.label);
  event.level = row.level;
  event.graph = graph_;
  if (row.level == 0) {
    root_in_cycles_ = in_cycles;
    root_is_estimate_ = row.label == "Performance Estimates";
  }
  if (in_execute_) {
    event.execute = output().executes - 1;
  } else {
    event.section = section_;
    event.statistic = statistic_;
    event.is_estimated = root_is_estimate_;
  }
  if (node) {
    node_ = node->id;
    node_level_ = row.level;
    node_name_ = output().strings.intern(node->name);
    event.label = node_name_;
    event.level = std::max(row.level, 1u);
    event.sources = output().strings.intern(row.sources);
  } else if (row.level < 2) {
    node_.reset();
  }
  event.node = node_;
  if (node_) event.node_name = node_name_;
  const std::size_t point = std::min(row.value.find('.'), row.value.size());
  const auto number = parse_number<std::int64_t>(row.value.substr(0, point));
  if (number && *number >= 0) {
    event.value = *number;
    if (point < row.value.size()) {
      event.decimals = parse_number<double>(row.value).value_or(double(*number)) - double(*number);
    }
  } else {
    event.value_text = output().strings.intern(row.value);
  }
  output().events.push_back(event);
}

std::optional<std::string_view> parse_graph(std::string_view text) {
  constexpr std::string_view word = "Graph ";
  if (!text.starts_with(word)) return std::nullopt;
  text.remove_prefix(word.size());
  if (!take_number<std::uint32_t>(text)) return std::nullopt;
  if (text.starts_with(": ")) return text.substr(2);
  if (text.starts_with(" (") && text.ends_with(')')) return text.substr(2, text.size() - 3);
  return std::nullopt;
}

namespace {

using Value = ondemand::value;

// One event of profilingEvents with its sub-events, whose keys may come in any order.
struct Event {
  std::string_view label;  // in the file's text
  std::string value;
  std::string_view unit, type;
  std::vector<Event> parts;
};

class StandardisedReader {
 public:
  StandardisedReader(JsonText& json, ViewerSessions& sessions)
      : json_(json), collector_(sessions, json.losses()) {}

  void read() {
    json_.each_member([&](std::string_view key, Value value) {
      if (key == "metadata") read_metadata(value);
      if (key == "messages") {
        json_.each_element(value, key, [&](Value& message) { read_message(message); });
      }
    });
  }

 private:
  void read_metadata(Value& metadata) {
    json_.each_member(metadata, "metadata", [&](std::string_view key, Value value) {
      if (key == "backendVersion")
        collector_.output().version = json_.text(value, key).value_or("");
    });
  }

  void read_message(Value& message) {
    std::string method;
    std::vector<Event> events;
    json_.each_member(message, "messages", [&](std::string_view key, Value value) {
      if (key == "method") method = json_.text(value, key).value_or("");
      if (key == "profilingEvents") {
        json_.each_element(value, key,
                           [&](Value& event) { events.push_back(read_event(event, 0)); });
      }
    });
    const bool execute = method == "BACKEND_EXECUTE";
    if (execute) {
      collector_.begin_execute();
    } else {
      collector_.begin_section(method);
    }
    for (const Event& event : events) add(event, 0);
    if (execute) collector_.end_execute();
  }

  Event read_event(Value& value, std::uint32_t depth) {
    constexpr std::uint32_t deepest = 16;
    Event event;
    if (!json_.has_room("profilingEvents")) return event;
    json_.each_member(value, "profilingEvents", [&](std::string_view key, Value field) {
      if (key == "identifier") event.label = json_.text(field, key).value_or("");
      if (key == "unit") event.unit = json_.text(field, key).value_or("");
      if (key == "type") event.type = json_.text(field, key).value_or("");
      if (key == "value") read_value(field, event);
      if (key == "sub-events") {
        if (depth == deepest) {
          json_.losses().add(Severity::warning, json_.offset(), "events nested too deep; left out");
          return;
        }
        json_.each_element(
            field, key, [&](Value& part) { event.parts.push_back(read_event(part, depth + 1)); });
      }
    });
    return event;
  }

  void read_value(Value& field, Event& event) {
    ondemand::json_type type{};
    if (field.type().get(type)) return;
    if (type == ondemand::json_type::string) {
      event.value = json_.text(field, "value").value_or("");
    } else if (type == ondemand::json_type::number) {
      if (const auto number = json_.integer(field, "value"))
        event.value = fmt::format("{}", *number);
    }
  }

  void add(const Event& event, std::uint32_t depth) {
    collector_.add({event.label, event.value, event.unit, depth, event.type == "NODE"});
    for (const Event& part : event.parts) add(part, depth + 1);
  }

  JsonText& json_;
  ViewerCollector collector_;
};

}  // namespace

Result<ViewerSessions> read_viewer_json(ByteSource& source, CountedNotes& losses) {
  TRY_AS(json, JsonText::load(source, losses));
  ViewerSessions sessions;
  StandardisedReader(*json, sessions).read();
  if (sessions.front().events.empty()) {
    return input_error("{}: is a standardised profile without an event; print the log again",
                       source.name());
  }
  return split_graphs(std::move(sessions), losses);
}

bool is_emulated(const ViewerOutput& output) {
  bool without_threads = false;
  for (const ViewerEvent& event : output.events) {
    if (event.execute == ViewerEvent::outside || event.node) continue;
    const std::string_view label = output.strings[event.label];
    if (label == "RPC (execute) time") return false;
    if (label != "Number of HVX threads used") continue;
    if (event.value != 0) return false;
    without_threads = true;
  }
  return without_threads;
}

}  // namespace npuscope::qnn
