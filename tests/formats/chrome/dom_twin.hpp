// The slow and obvious twin of the reader of Chrome traces, on nlohmann's document tree, and random
// sound traces to compare the two on:
//
//   const std::string trace = RandomTrace(Choices(7u)).make(30);
//   const TwinTexts expected = read_by_twin(trace);
//   expected.slices    as trace_text.hpp prints what the reader made
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "choices.hpp"

namespace npuscope::chrome::test_support {

using test::Choices;
using Json = nlohmann::ordered_json;

class RandomTrace {
 public:
  explicit RandomTrace(Choices choices) : random_(std::move(choices)) {}

  // Each event in one of so many forms; 0: each as it comes.
  std::string make(std::size_t events, std::size_t form_count = 0) {
    std::vector<std::string> forms;
    for (std::size_t i = 0; i < form_count; ++i) forms.push_back(space() + form() + space());
    std::string text = pick(2) == 0 ? "[" : R"({"x": [1, {"]": "["}], "traceEvents": [)";
    const bool is_list = text == "[";
    for (std::size_t i = 0; i < events; ++i) {
      const std::string form_of_it =
          forms.empty() ? space() + form() + space() : forms[pick(forms.size())];
      text += (i == 0 ? "" : ",") + filled(form_of_it);
    }
    return text + (is_list ? (pick(2) == 0 ? "" : "]") : R"(], "y": "}"})");
  }

 private:
  std::size_t pick(std::size_t count) { return random_() % count; }
  std::string space() { return std::string(pick(3), " \n\t"[pick(3)]); }
  std::string text() {
    static const char* texts[] = {
        "a", "b[", "c}", "d\\\"", "e\\\\", "\\u00e9\\n", "", "f{\xc3\xa9", "long name of an op"};
    return '"' + std::string(texts[pick(9)]) + '"';
  }
  // Nested values as the twin writes them again.
  std::string value(std::size_t depth) {
    if (depth > 0 && pick(2) == 0) return pick(2) == 0 ? "\"d\\\"\"" : "\"e[\"";
    switch (pick(depth > 2 ? 6 : 8)) {
      case 0: return depth > 0 ? "\"t{\"" : text();
      case 1: return std::to_string(std::int64_t(random_()) - 1'000'000);
      case 2: return std::to_string(pick(1000)) + ".25";
      case 3: return pick(2) == 0 ? "true" : "null";
      case 4: return "18446744073709551" + std::to_string(100 + pick(500));
      case 5: return depth > 0 ? "-0.5" : "-1.5e" + std::to_string(pick(20));
      case 6: return "[" + value(depth + 1) + "," + value(depth + 1) + "]";
      default: return "{\"k\":" + value(depth + 1) + "}";
    }
  }
  std::string time() {
    const std::string number = std::to_string(pick(100)) + (pick(2) == 0 ? "" : ".125");
    return pick(5) == 0 ? '"' + number + '"' : number;
  }
  // An event with $t for times, $s for texts, $v for any value and $n for a small number.
  std::string form() {
    std::vector<std::string> members;
    const char phase = "XXXXBBEECis"[pick(11)];
    members.push_back(std::string("\"ph\":\"") + phase + '"');
    members.push_back("\"ts\":$t");
    if (phase == 'X') members.push_back("\"dur\":$t");
    if (pick(8) != 0) members.push_back("\"name\":$s");
    if (pick(2) != 0) members.push_back("\"cat\" : $s");
    if (pick(9) != 0) members.push_back("\"pid\":$n");
    if (pick(9) != 0) members.push_back(pick(3) == 0 ? "\"tid\" :\"main\"" : "\"tid\" :$n");
    if (pick(4) != 0) members.push_back("\"args\":" + arguments());
    if (pick(9) == 0) members.push_back("\"other\":$v");
    random_.shuffle(members);
    std::string text = "{";
    for (std::size_t i = 0; i < members.size(); ++i)
      text += (i == 0 ? "" : ",") + space() + members[i];
    return text + "}";
  }
  std::string arguments() {
    std::string text = "{";
    const std::size_t kinds = pick(4);
    for (std::size_t i = 0; i < kinds + pick(2); ++i) {
      if (i > 0) text += ",";
      text += "\"key" + std::to_string(i) + "\":$v";
    }
    return text + "}";
  }
  std::string filled(const std::string& form) {
    std::string event;
    for (std::size_t i = 0; i < form.size(); ++i) {
      if (form[i] != '$') {
        event += form[i];
        continue;
      }
      switch (form[++i]) {
        case 't': event += time(); break;
        case 's': event += text(); break;
        case 'v': event += value(0); break;
        default: event += std::to_string(pick(2));
      }
    }
    return event;
  }

  Choices random_;
};

// One event as the twin keeps it.
struct TwinRow {
  char phase = 0;
  std::string thread;
  std::string name;
  std::string category;
  std::int64_t time = 0;
  std::int64_t duration = 0;
  std::vector<std::pair<std::string, Json>> arguments;
  bool open = false;
  std::int64_t cut = std::numeric_limits<std::int64_t>::max();  // where one around it ended
  bool dropped = false;
};

inline std::string id_text(const Json& event, const char* key) {
  if (!event.contains(key)) return "";
  return event[key].is_string() ? event[key].get<std::string>() : event[key].dump();
}

inline std::int64_t thousandths(const Json& value) {
  const double number =
      value.is_string() ? std::stod(value.get<std::string>()) : value.get<double>();
  return std::llround(number * 1000);
}

inline std::string value_text(const Json& value) {
  if (value.is_string()) return '"' + value.get<std::string>() + '"';
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > std::uint64_t(std::numeric_limits<std::int64_t>::max()))
    return value.dump() + "u";
  if (value.is_number_float()) return fmt::format("{}f", value.get<double>());
  if (value.is_structured()) return "json " + value.dump();
  return value.dump();
}

inline std::vector<TwinRow> twin_rows(const Json& list) {
  std::vector<TwinRow> rows;
  for (const Json& event : list) {
    TwinRow row;
    row.phase = event["ph"].get<std::string>()[0];
    row.thread = id_text(event, "pid") + "/" + id_text(event, "tid");
    row.name = id_text(event, "name");
    row.category = id_text(event, "cat");
    row.time = thousandths(event["ts"]);
    if (row.phase == 'X') row.duration = thousandths(event["dur"]);
    if (event.contains("args")) {
      for (const auto& [key, value] : event["args"].items()) row.arguments.emplace_back(key, value);
    }
    if (event.contains("other")) row.arguments.emplace_back("other", event["other"]);
    row.open = row.phase == 'B';
    rows.push_back(row);
  }
  return rows;
}

inline void set_argument(TwinRow& row, const std::pair<std::string, Json>& argument) {
  for (auto& own : row.arguments) {
    if (own.first != argument.first) continue;
    own.second = argument.second;
    return;
  }
  row.arguments.push_back(argument);
}

inline void pair_rows(std::vector<TwinRow>& rows) {
  std::vector<TwinRow*> order;
  for (TwinRow& row : rows) order.push_back(&row);
  std::ranges::stable_sort(order, {}, &TwinRow::time);
  std::map<std::string, std::vector<TwinRow*>> stacks;
  std::map<std::string, std::int64_t> last;
  for (TwinRow* row : order) {
    if (row->phase == 'X' || row->phase == 'B' || row->phase == 'E') {
      last.try_emplace(row->thread, row->time);
      last[row->thread] = std::max(last[row->thread], row->time + row->duration);
    }
    std::vector<TwinRow*>& stack = stacks[row->thread];
    if (row->phase == 'B') stack.push_back(row);
    if (row->phase != 'E') continue;
    row->dropped = true;
    const auto fits = [&](TwinRow* begin) {
      return row->name.empty() || begin->name.empty() || begin->name == row->name;
    };
    const auto found = std::find_if(stack.rbegin(), stack.rend(), fits);
    if (found == stack.rend()) continue;
    TwinRow& begin = **found;
    for (auto inner = stack.rbegin(); inner != found; ++inner) {
      (*inner)->cut = std::min((*inner)->cut, row->time);
    }
    stack.erase(std::next(found).base());
    begin.open = false;
    begin.duration = row->time - begin.time;
    for (const auto& argument : row->arguments) set_argument(begin, argument);
  }
  for (TwinRow& row : rows) {
    if (row.open) row.duration = std::min(row.cut, last[row.thread]) - row.time;
  }
}

inline std::string arguments_text(const TwinRow& row) {
  std::string text;
  for (const auto& [key, value] : row.arguments) {
    text += (text.empty() ? " {" : ", ") + key + ": " + value_text(value);
  }
  return text.empty() ? "" : text + "}";
}

inline std::string twin_slices(const std::vector<TwinRow>& rows) {
  std::string text;
  const auto is_slice = [](const TwinRow& row) { return row.phase == 'X' || row.phase == 'B'; };
  const bool categories = std::ranges::any_of(
      rows, [&](const TwinRow& row) { return is_slice(row) && !row.category.empty(); });
  for (const TwinRow& row : rows) {
    if (!is_slice(row)) continue;
    text += fmt::format("{} {}{} {} +{}{}\n", row.thread, row.name,
                        categories ? " [" + row.category + "]" : "", row.time, row.duration,
                        arguments_text(row));
  }
  return text;
}

inline std::string twin_marks(const std::vector<TwinRow>& rows) {
  std::string text;
  for (const TwinRow& row : rows) {
    if (row.phase == 'X' || row.phase == 'B' || row.phase == 'E') continue;
    text += fmt::format("{} {} {} [{}] @{} #{}\n", row.phase, row.thread, row.name, row.category,
                        row.time, arguments_text(row));
  }
  return text;
}

struct TwinTexts {
  std::string slices, marks;
};

inline TwinTexts read_by_twin(const std::string& trace) {
  std::string closed = trace;
  if (trace.front() == '[' && Json::parse(trace, nullptr, false).is_discarded()) closed += "]";
  const Json document = Json::parse(closed);
  std::vector<TwinRow> rows = twin_rows(document.is_array() ? document : document["traceEvents"]);
  pair_rows(rows);
  return {twin_slices(rows), twin_marks(rows)};
}

}  // namespace npuscope::chrome::test_support
