#include "formats/qaic/opstats/opstats_host_trace.hpp"

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/numbers.hpp"
#include "base/try.hpp"
#include "formats/chrome/trace_document.hpp"

namespace npuscope::qaic {
namespace {

namespace ondemand = simdjson::ondemand;

// Host times beyond this (31 years in microseconds) cannot be shifted without losing nanoseconds.
constexpr double max_microseconds = 1e15;

// A number, bare or in quotes (some writers quote them), and where it stands in the token.
template <class Number>
struct QuotedNumber {
  Number value{};
  std::string_view digits;
};

// None when the token is anything else, or the number does not fit.
template <class Number>
std::optional<QuotedNumber<Number>> number_in(std::string_view token) {
  token = token.substr(0, token.find_last_not_of(" \t\r\n") + 1);
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"') {
    token = token.substr(1, token.size() - 2);
  }
  const auto number = parse_number<Number>(token);
  return number ? std::optional(QuotedNumber<Number>{*number, token}) : std::nullopt;
}

// Without zeros behind the point.
std::string as_microseconds(std::int64_t nanoseconds) {
  const std::int64_t size = std::abs(nanoseconds);
  std::string text =
      fmt::format("{}{}.{:03}", nanoseconds < 0 ? "-" : "", size / 1000, size % 1000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

class HostTraceParser {
 public:
  explicit HostTraceParser(const std::string& name) : name_(name) {}

  Result<HostTrace> run(simdjson::padded_string_view text) {
    ondemand::parser parser;
    ondemand::document document;
    if (const auto error = parser.iterate(text).get(document)) return broken(error);
    if (const auto error = read_document(document)) {
      const char* place = nullptr;
      if (document.current_location().get(place)) return broken(error);
      return broken(error, fmt::format(" near byte {}", place - text.data()));
    }
    // Once more for validity: what is copied into the device trace must be sound JSON.
    simdjson::dom::parser validator;
    if (const auto error = validator.parse(text).error()) return broken(error);
    if (!has_events_) {
      return input_error(
          "{}: has no traceEvents; give a Chrome trace, {{\"traceEvents\": [...]}} "
          "or an array of events",
          name_);
    }
    if (!problem_.empty()) return input_error("{}: {}", name_, problem_);
    trace_.first_microseconds = has_time_ ? first_ : 0;
    return std::move(trace_);
  }

 private:
  tl::unexpected<Error> broken(simdjson::error_code error, const std::string& place = "") const {
    return input_error("{}: not a JSON trace{}: {}; write it again", name_, place,
                       simdjson::error_message(error));
  }

  simdjson::error_code read_document(ondemand::document& document) {
    return chrome::walk_trace(
        document, has_events_, [&](ondemand::value event) { return read_event(event); },
        [&](std::string_view key, ondemand::value value) {
          ondemand::object other;
          if (key != "otherData" || value.get_object().get(other)) return simdjson::SUCCESS;
          return chrome::walk_members(std::move(other),
                                      [&](std::string_view name, ondemand::value number) {
                                        if (name == "utimer_ticks_at_zero")
                                          read_zero(number.raw_json_token());
                                        return simdjson::SUCCESS;
                                      });
        });
  }

  void read_zero(std::string_view token) {
    const auto ticks = number_in<std::int64_t>(token);
    if (ticks && ticks->value >= 0 && ticks->value <= std::int64_t{1} << 56) {
      trace_.utimer_ticks_at_zero = ticks->value;
    } else {
      problem_ =
          "otherData.utimer_ticks_at_zero is not a count of timer ticks; leave it out to align by "
          "the first event";
    }
  }

  simdjson::error_code read_event(ondemand::value value) {
    ondemand::object object;
    if (value.get_object().get(object) != simdjson::SUCCESS) {
      problem_ =
          fmt::format("event {} is not an object; write the trace again", trace_.events.size());
      return simdjson::SUCCESS;
    }
    std::string_view raw;
    if (const auto error = object.raw_json().get(raw)) return error;
    if (const auto error = object.reset().error()) return error;
    HostEvent event;
    const auto error =
        chrome::walk_members(std::move(object), [&](std::string_view key, ondemand::value member) {
          const std::string_view token = member.raw_json_token();
          if (key == "ts") read_time(token, raw, event);
          if (key == "dur") read_duration(token, raw, event);
          if (key == "pid") read_pid(token, raw, event);
          if (key == "id") read_flow_id(token);
          return simdjson::SUCCESS;
        });
    if (error) return error;
    event.text = std::string(raw.substr(0, raw.find_last_of('}') + 1));
    std::replace_if(
        event.text.begin(), event.text.end(),
        [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
    trace_.events.push_back(std::move(event));
    return simdjson::SUCCESS;
  }

  void read_time(std::string_view token, std::string_view raw, HostEvent& event) {
    const auto time = number_in<double>(token);
    if (!time || !(std::abs(time->value) < max_microseconds)) {
      problem_ = fmt::format("event {} has the time {}, which is not one; write the trace again",
                             trace_.events.size(), token.substr(0, 40));
      return;
    }
    event.ts_offset = std::size_t(time->digits.data() - raw.data());
    event.ts_length = time->digits.size();
    event.ts_microseconds = time->value;
    first_ = std::min(first_, time->value);
    has_time_ = true;
  }

  void read_duration(std::string_view token, std::string_view raw, HostEvent& event) {
    const auto duration = number_in<double>(token);
    if (!duration || !(std::abs(duration->value) < max_microseconds)) return;
    event.dur_offset = std::size_t(duration->digits.data() - raw.data());
    event.dur_length = duration->digits.size();
    event.dur_microseconds = duration->value;
  }

  void read_pid(std::string_view token, std::string_view raw, HostEvent& event) {
    const auto pid = number_in<std::int64_t>(token);
    if (!pid) return;
    event.pid_offset = std::size_t(pid->digits.data() - raw.data());
    event.pid_length = pid->digits.size();
    event.pid = pid->value;
  }

  void read_flow_id(std::string_view token) {
    if (token.starts_with('"')) token.remove_prefix(1);
    const int base = token.starts_with("0x") ? 16 : 10;
    if (base == 16) token.remove_prefix(2);
    const std::uint64_t id = take_number<std::uint64_t>(token, base).value_or(0);
    if (id < std::uint64_t{1} << 62) trace_.largest_flow_id = std::max(trace_.largest_flow_id, id);
  }

  const std::string& name_;
  HostTrace trace_;
  std::string problem_;
  bool has_events_ = false;
  bool has_time_ = false;
  double first_ = std::numeric_limits<double>::max();
};

Result<HostTrace> read_events_of(ByteSource& source) {
  constexpr std::uint64_t max_bytes = std::uint64_t{1} << 30;
  TRY_AS(text, chrome::read_trace_text(source, max_bytes));
  return HostTraceParser(source.name()).run(chrome::padded(*text));
}

}  // namespace

Result<HostTrace> parse_host_trace(ByteSpan bytes, const std::string& name) {
  TRY_AS(source, open_byte_source(as_text(bytes), name));
  return read_events_of(**source);
}

Result<HostTrace> read_host_trace(const std::filesystem::path& path) {
  TRY_AS(source, open_byte_source(path));
  return read_events_of(**source);
}

void append_host_event(std::string& out, const HostEvent& event, double offset_microseconds,
                       std::int64_t pid) {
  std::vector<chrome::TextChange> changes;
  if (event.ts_length > 0) {
    const double start = event.ts_microseconds + offset_microseconds;
    const std::int64_t begin = std::llround(start * 1e3);
    changes.push_back({event.ts_offset, event.ts_length, as_microseconds(begin)});
    if (event.dur_length > 0) {
      const std::int64_t end = std::llround((start + event.dur_microseconds) * 1e3);
      changes.push_back({event.dur_offset, event.dur_length, as_microseconds(end - begin)});
    }
  }
  if (event.pid_length > 0 && pid != event.pid) {
    changes.push_back({event.pid_offset, event.pid_length, fmt::format("{}", pid)});
  }
  out += '\n';
  chrome::append_changed(out, event.text, std::move(changes));
}

}  // namespace npuscope::qaic
