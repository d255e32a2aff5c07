#include <fmt/format.h>

#include "formats/qnn/read/json_text.hpp"
#include "formats/qnn/read/viewer.hpp"

namespace npuscope::qnn {
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
  auto json = JsonText::load(source, losses);
  if (!json) return tl::unexpected(json.error());
  ViewerSessions sessions;
  StandardisedReader(*json, sessions).read();
  if (sessions.front().events.empty()) {
    return input_error("{}: is a standardised profile without an event; print the log again",
                       source.name());
  }
  return split_graphs(std::move(sessions), losses);
}

}  // namespace npuscope::qnn
