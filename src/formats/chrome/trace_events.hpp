// Chrome trace events as text, one a line, printed as any of the tools that write them does: which
// members an event has is said in TraceEvent, in which order and with which blanks in TraceStyle.
//
//   constexpr TraceStyle style{
//       .events = {R"({"name": ?, "ph": ?, "pid": ?, "tid": ?, "ts": ?, "dur": ?, "args": ?})"}};
//   out.add(R"({"traceEvents": [)");
//   TraceEvents<style> events(out);
//   events.add({.phase = TracePhase::complete, .name = "conv", .process = 1, .thread = 2,
//               .time = 1500, .duration = 250},
//              [&] { events.json().member("op", 7); });
//   events.end();
//
//   {"traceEvents": [
//   {"name": "conv", "ph": "X", "pid": 1, "tid": 2, "ts": 1.5, "dur": 0.25, "args": {"op":7}}
//   ]}
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "base/json_writer.hpp"
#include "base/print_text.hpp"

namespace npuscope::chrome {

enum class TracePhase : char {
  complete = 'X',
  instant = 'i',
  async_begin = 'b',
  async_end = 'e',
  flow_begin = 's',
  flow_end = 'f',  // binds to the slice around it
  counter = 'C',
  metadata = 'M'
};

// Of a process, a thread, or what belongs together: a number, or what stands as JSON; or none.
class TraceId {
 public:
  constexpr TraceId() = default;
  constexpr TraceId(std::integral auto number) : number_(std::int64_t(number)), is_number_(true) {}
  static constexpr TraceId of_json(std::string_view json) {
    TraceId id;
    id.json_ = json;
    return id;
  }

  bool is_none() const { return !is_number_ && json_.empty(); }
  void write(JsonWriter<TextOutput>& json) const {
    is_number_ ? json.value(number_) : json.raw(json_);
  }

 private:
  std::string_view json_;
  std::int64_t number_ = 0;
  bool is_number_ = false;
};

// What is left out is not printed.
struct TraceEvent {
  TracePhase phase = TracePhase::complete;
  std::string_view name = {};
  std::optional<std::string_view> category = {};
  TraceId process = {}, thread = {}, id = {};
  std::optional<std::int64_t> time = {}, duration = {};  // in what TraceTime says
  std::optional<std::string_view> scope = {};
};

// What times are, and how they are printed.
enum class TraceTime : std::uint8_t {
  as_they_are,   // whole numbers of any unit
  microseconds,  // of nanoseconds: 1500 is 1.5
  thousandths,   // of nanoseconds: 1500 is 1.500
  // Of nanoseconds: times end in a fifth of a nanosecond and durations are a fifth shorter than
  // they are, so that neither cutting nor rounding them to nanoseconds, nor adding them up as
  // doubles, makes neighbours overlap.
  fifths
};

enum class TraceMember : std::uint8_t {
  name,
  category,
  phase,
  binding,
  scope,
  id,
  process,
  thread,
  time,
  duration,
  arguments
};

// An event as it is printed, with a question mark for each value, and the layout of its arguments.
class TraceForm {
 public:
  consteval TraceForm(std::string_view text, const JsonLayout& arguments = {})
      : arguments_(arguments) {
    for (auto hole = text.find('?'); hole != text.npos; hole = text.find('?')) {
      const std::string_view before = text.substr(0, hole);
      const auto end = before.rfind('"'), begin = before.rfind('"', end - 1) + 1;
      members_[count_++] = {before, member_of(before.substr(begin, end - begin))};
      text.remove_prefix(hole + 1);
    }
    end_ = text;
  }

  struct Member {
    std::string_view before;  // its value
    TraceMember what = TraceMember::name;
  };
  constexpr std::span<const Member> members() const { return {members_.data(), count_}; }
  constexpr std::string_view end() const { return end_; }
  constexpr const JsonLayout& arguments() const { return arguments_; }

 private:
  static consteval TraceMember member_of(std::string_view key) {
    if (key == "name") return TraceMember::name;
    if (key == "cat") return TraceMember::category;
    if (key == "ph") return TraceMember::phase;
    if (key == "bp" || key == "pb") return TraceMember::binding;  // the vendor's viewer has pb
    if (key == "s") return TraceMember::scope;
    if (key == "id") return TraceMember::id;
    if (key == "pid") return TraceMember::process;
    if (key == "tid") return TraceMember::thread;
    if (key == "ts") return TraceMember::time;
    if (key == "dur") return TraceMember::duration;
    if (key == "args") return TraceMember::arguments;
    throw std::invalid_argument("not a member of trace events");
  }

  std::array<Member, 11> members_{};
  std::size_t count_ = 0;
  std::string_view end_;
  JsonLayout arguments_;
};

// How a tool prints events; those of a phase without a form of its own as `events` says. The member
// that comes first is in every event.
struct TraceStyle {
  TraceForm events;
  TraceForm flow = events, counter = events, metadata = events;
  TraceTime time = TraceTime::microseconds;
  JsonLayout values = {};  // of what lies within arguments
};

// The thousandths of a number, and how many characters of ".250" count without zeros at the end.
struct Thousandths {
  struct Text {
    char digits[3];
    std::uint8_t size;
  };
  std::array<Text, 1000> texts{};
  constexpr Thousandths() {
    for (unsigned i = 0; i < texts.size(); ++i) {
      const unsigned size = i == 0 ? 0 : i % 100 == 0 ? 2 : i % 10 == 0 ? 3 : 4;
      texts[i] = {{char('0' + i / 100), char('0' + i / 10 % 10), char('0' + i % 10)},
                  std::uint8_t(size)};
    }
  }
};
inline constexpr Thousandths thousandths;

// A time or a duration as a style prints it, from `at` on; where it ends.
inline constexpr std::size_t max_time_size = 32;
template <TraceTime form>
char* print_time(char* at, std::int64_t time) {
  if constexpr (form == TraceTime::as_they_are) {
    return print_integer(at, time);
  } else {
    auto size = std::uint64_t(time);
    if (time < 0) {
      *at++ = '-';
      size = 0 - size;
    }
    const std::uint64_t whole = size / 1000;
    const Thousandths::Text rest = thousandths.texts[size - 1000 * whole];
    char* const end = print_integer(at, whole);
    *end = '.';
    std::memcpy(end + 1, &rest, sizeof rest);  // of which three are digits
    if constexpr (form == TraceTime::microseconds) return end + rest.size;
    if constexpr (form == TraceTime::thousandths) return end + 4;
    end[4] = '2';
    return end + 5;
  }
}
template <TraceTime form>
char* print_duration(char* at, std::int64_t duration) {
  if constexpr (form != TraceTime::fifths) return print_time<form>(at, duration);
  if (duration <= 0) {
    *at = '0';
    return at + 1;
  }
  // 0.2 ns short of it: one less, and 8 tenths, so that no duration overflows.
  char* const end = print_time<TraceTime::thousandths>(at, duration - 1);
  *end = '8';
  return end + 1;
}

// What events have in common that differ in time, duration and arguments, printed once.
struct TraceParts {
  std::string before_time;     // in most styles what their process and thread say
  std::string after_duration;  // and their name and category
};

// The list of events, which is open already; `style` is known when it is compiled, because files
// have millions of them.
template <const TraceStyle& style>
class TraceEvents {
 public:
  explicit TraceEvents(TextOutput& out) : out_(out), json_(out, style.values) {}

  void add(const TraceEvent& event) {
    add(
        event, [] {}, false);
  }
  // write_arguments() writes the members of "args" into json().
  template <class Write>
  void add(const TraceEvent& event, Write write_arguments, bool has_arguments = true) {
    if (count_++ > 0) out_.add(',');
    out_.add('\n');
    const auto add_as = [&]<TraceForm TraceStyle::*form>() {
      each<(style.*form).members().size()>([&]<std::size_t i>() {
        constexpr TraceForm::Member member = (style.*form).members()[i];
        if constexpr (member.what == TraceMember::arguments) {
          if (!has_arguments) return;
          out_.add(member.before);
          json_.begin_object((style.*form).arguments());
          write_arguments();
          json_.end_object();
        } else if (has<member.what>(event)) {
          out_.add(member.before);
          write<member.what>(event);
        }
      });
      out_.add((style.*form).end());
    };
    switch (event.phase) {
      case TracePhase::flow_begin:
      case TracePhase::flow_end: return add_as.template operator()<&TraceStyle::flow>();
      case TracePhase::counter: return add_as.template operator()<&TraceStyle::counter>();
      case TracePhase::metadata: return add_as.template operator()<&TraceStyle::metadata>();
      default: return add_as.template operator()<&TraceStyle::events>();
    }
  }
  // The same event by its parts: for a style whose events have time, duration and arguments in this
  // order. The parts are those of one event, or of two that share all that the part says.
  static TraceParts parts(const TraceEvent& event) {
    TextOutput out;
    TraceEvents printed(out);
    TraceParts parts;
    each<style.events.members().size()>([&]<std::size_t i>() {
      constexpr TraceForm::Member member = style.events.members()[i];
      constexpr bool ends_part =
          member.what == TraceMember::time || member.what == TraceMember::duration;
      if constexpr (member.what == TraceMember::arguments) {
        return;
      } else if constexpr (ends_part) {
        out.add(member.what == TraceMember::time ? member.before : std::string_view());
        if (member.what == TraceMember::time) parts.before_time = out.text();
        out.clear();
      } else if (printed.template has<member.what>(event)) {
        out.add(member.before);
        printed.template write<member.what>(event);
      }
    });
    parts.after_duration = out.text();
    return parts;
  }
  // `print` prints the members of "args", each with a comma before it, at most so many characters,
  // and returns where they end.
  template <class Print>
  void add(std::string_view before_time, std::int64_t time, std::int64_t duration,
           std::string_view after_duration, bool has_arguments, std::size_t most, Print print) {
    static constexpr std::string_view before_duration = before<TraceMember::duration>();
    static constexpr std::string_view before_arguments = before<TraceMember::arguments>();
    constexpr std::size_t fixed = before_duration.size() + before_arguments.size() +
                                  style.events.end().size() + 2 * max_time_size + 4;
    out_.add_made(fixed + before_time.size() + after_duration.size() + most, [&](char* at) {
      if (count_++ > 0) *at++ = ',';
      *at++ = '\n';
      at = print_time<style.time>(print_text(at, before_time), time);
      at = print_duration<style.time>(print_text(at, before_duration), duration);
      at = print_text(at, after_duration);
      if (has_arguments) {
        char* const bracket = print_text(at, before_arguments);
        at = print(bracket);
        *bracket = '{';  // in place of the comma before the first member
        *at++ = '}';
      }
      return print_text(at, style.events.end());
    });
  }
  // What is added stands behind an event that somebody else has written.
  void continue_list() { count_ += 1; }
  // The list and the object around it.
  void end() { out_.add("\n]}\n"); }

  JsonWriter<TextOutput>& json() { return json_; }
  std::uint64_t count() const { return count_; }

 private:
  template <TraceMember what>
  static consteval std::string_view before() {
    for (const TraceForm::Member& member : style.events.members()) {
      if (member.what == what) return member.before;
    }
    throw std::invalid_argument("events of this style do not have it");
  }
  template <std::size_t count, class Do>
  static void each(Do action) {
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      (action.template operator()<i>(), ...);
    }(std::make_index_sequence<count>());
  }
  template <TraceMember what>
  static bool has(const TraceEvent& event) {
    switch (what) {
      case TraceMember::category: return event.category.has_value();
      case TraceMember::binding: return event.phase == TracePhase::flow_end;
      case TraceMember::scope: return event.scope.has_value();
      case TraceMember::id: return !event.id.is_none();
      case TraceMember::process: return !event.process.is_none();
      case TraceMember::thread: return !event.thread.is_none();
      case TraceMember::time: return event.time.has_value();
      case TraceMember::duration: return event.duration.has_value();
      default: return true;
    }
  }
  template <TraceMember what>
  void write(const TraceEvent& event) {
    const char phase = char(event.phase);
    switch (what) {
      case TraceMember::name: return json_.value(event.name);
      case TraceMember::category: return json_.value(*event.category);
      case TraceMember::phase: return json_.quoted(std::string_view(&phase, 1));
      case TraceMember::binding: return json_.quoted("e");
      case TraceMember::scope: return json_.value(*event.scope);
      case TraceMember::id: return event.id.write(json_);
      case TraceMember::process: return event.process.write(json_);
      case TraceMember::thread: return event.thread.write(json_);
      case TraceMember::time:
        return out_.add_made(max_time_size,
                             [&](char* at) { return print_time<style.time>(at, *event.time); });
      case TraceMember::duration:
        return out_.add_made(max_time_size, [&](char* at) {
          return print_duration<style.time>(at, *event.duration);
        });
      case TraceMember::arguments: return;
    }
  }

  TextOutput& out_;
  JsonWriter<TextOutput> json_;
  std::uint64_t count_ = 0;
};

}  // namespace npuscope::chrome
