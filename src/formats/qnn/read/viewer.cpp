#include "formats/qnn/read/viewer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/numbers.hpp"
#include "base/text.hpp"

namespace npuscope::qnn {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return char(std::tolower(c)); });
  return out;
}

// These two are printed in microseconds and are ticks of the 19.2 MHz timer: they equal the ticks
// of RUN_TRACE, and as microseconds they would be longer than the execute that they are part of.
bool is_ticks_in_truth(std::string_view label) {
  return label == "Time for initial VTCM acquire" ||
         label == "Time for HVX + HMX power on and acquire";
}

ViewerUnit unit_of(std::string_view label, std::string_view unit) {
  const std::string name = lower(unit);
  if (name == "us" || name == "microsec" || name == "microseconds") {
    return is_ticks_in_truth(label) ? ViewerUnit::ticks : ViewerUnit::microseconds;
  }
  if (name == "cycles" || name == "cycle") return ViewerUnit::cycles;
  if (name == "ticks") return ViewerUnit::ticks;
  if (name == "count") return ViewerUnit::count;
  if (name == "bytes") return ViewerUnit::bytes;
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
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  NodeLabel node;
  std::string_view rest = label.substr(at + mark.size());
  const auto id = take_number<decltype(node.id)>(rest);
  if (!id) return std::nullopt;
  node.id = *id;
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  if (!rest.empty() && rest != "(cycles)") return std::nullopt;
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
  node_.reset();
  node_name_ = section_ = StringId::empty;
}

void ViewerCollector::begin_session_before(std::string_view label, std::uint32_t level) {
  if (level == 0 && output().executes > 0 && prepares(label)) begin_session();
}

void ViewerCollector::begin_execute() {
  in_execute_ = true;
  node_.reset();
  ++output().executes;
}

void ViewerCollector::begin_section(std::string_view section) {
  section_ = output().strings.intern(section);
  in_execute_ = false;
  node_.reset();
}

void ViewerCollector::claim_section(std::string_view section) {
  begin_section(section);
  auto& events = output().events;
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    if (event->execute != ViewerEvent::outside || event->section != StringId::empty) return;
    event->section = section_;
  }
}

void ViewerCollector::add_delimited(std::string_view label, std::string_view value,
                                    std::string_view unit, std::uint32_t level) {
  const bool first = label == "Number of HVX threads used";
  if (level == 0 && (first || (!in_execute_ && starts_execute(label)))) begin_execute();
  add(label, value, unit, level);
  if (label == "QNN (execute) time") end_execute();
}

void ViewerCollector::add(std::string_view label, std::string_view value, std::string_view unit,
                          std::uint32_t level) {
  if (events_ == max_events) {
    return losses_.add(Severity::error, 0,
                       fmt::format("numbers beyond the first {}; left out", thousands(max_events)));
  }
  ++events_;
  ViewerEvent event;
  event.label = output().strings.intern(label);
  event.level = level;
  if (in_execute_) {
    event.execute = output().executes - 1;
  } else {
    event.section = section_;
  }
  if (const auto node = parse_node(label)) {
    node_ = node->id;
    node_name_ = output().strings.intern(node->name);
    event.label = node_name_;
    event.level = std::max(level, 1u);
  } else if (level < 2) {
    node_.reset();
  }
  event.node = node_;
  if (node_) event.node_name = node_name_;
  event.unit = unit_of(label, unit);
  const auto number = parse_number<std::int64_t>(value);
  if (number && *number >= 0) {
    event.value = *number;
  } else {
    event.value_text = output().strings.intern(value);
  }
  output().events.push_back(event);
}

}  // namespace npuscope::qnn
