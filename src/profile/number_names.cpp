#include "profile/number_names.hpp"

#include <string>
#include <utility>

#include "base/text.hpp"
#include "profile/pmu_events.hpp"

namespace npuscope {
namespace {

// "DDR read bytes", "dram_read", "VTCM write (bytes)": vendors agree on the words, not on the form.
// A word more ("ddr read bytes, constants") makes it a part of what is counted already.
NumberRole traffic_named(std::string_view name) {
  constexpr std::size_t longest = 60;
  if (name.size() > longest) return NumberRole::none;
  bool ddr = false, vtcm = false, read = false, write = false;
  std::string word;
  const auto take_word = [&] {
    ddr = ddr || word == "ddr" || word == "dram";
    vtcm = vtcm || word == "vtcm" || word == "tcm";
    read = read || word == "read" || word == "reads";
    write = write || word == "write" || word == "writes" || word == "written";
    const bool known = word.empty() || word == "bytes" || word == "byte" || word == "total" ||
                       word == "mem" || word == "ddr" || word == "dram" || word == "vtcm" ||
                       word == "tcm" || word.starts_with("read") || word.starts_with("writ");
    word.clear();
    return known;
  };
  for (const char c : name) {
    if (is_letter(c)) {
      word += small_letter(c);
    } else if (c == ' ' || c == '_' || c == '(' || c == ')') {
      if (!take_word()) return NumberRole::none;
    } else {
      return NumberRole::none;
    }
  }
  if (!take_word() || ddr == vtcm || read == write) return NumberRole::none;
  if (ddr) return read ? NumberRole::ddr_read : NumberRole::ddr_write;
  return read ? NumberRole::vtcm_read : NumberRole::vtcm_write;
}

// Names that npuscope's own readers give, in traces that it wrote before these said what they are.
NumberRole own_role(std::string_view name) {
  constexpr std::pair<std::string_view, NumberRole> own[] = {
      {"multicast write bytes", NumberRole::multicast_write},
      {"ddr read bytes, constants", NumberRole::ddr_read_constants},
      {"dominant path", NumberRole::dominant_path},
      {"packets", NumberRole::packets},
      {"recorded duration", NumberRole::recorded_duration},
      {"device execution", NumberRole::device_execution},
      {"device input wait", NumberRole::device_input_wait},
      {"device output wait", NumberRole::device_output_wait},
      {"device inferences per second", NumberRole::device_rate},
      {"host round trip", NumberRole::host_round_trip},
      {"queue depth", NumberRole::queue_depth},
      {"inferences in queue", NumberRole::inferences_in_queue}};
  for (const auto& [known, role] : own) {
    if (name == known) return role;
  }
  return NumberRole::none;
}

bool has_any(std::string_view name, std::initializer_list<const char*> words) {
  for (const char* word : words) {
    if (name.find(word) != name.npos) return true;
  }
  return false;
}

Meaning meaning_named(MeasureKind kind, std::string_view name) {
  Meaning meaning = NamedNumber(name, kind).meaning;
  meaning.role = own_role(name);
  const std::string lower = in_small_letters(name.substr(0, 200));
  const bool is_share = has_any(lower, {"percent", "%", "utilization"});
  const bool is_rate = has_any(lower, {" per ", "_per_", "rate"});
  if (is_share || is_rate ||
      has_any(lower, {"deviation", "stddev", "average", "mean", "median", "frequency", "depth"})) {
    meaning.additive = false;
  }
  if (kind != MeasureKind::count) return meaning;
  if (meaning.role == NumberRole::none) meaning.role = traffic_named(name);
  if (event_of_pmu_measure(name)) meaning.role = NumberRole::pmu_event;
  const bool is_bytes =
      has_any(name, {"byte", "Bytes"}) ||
      (meaning.role >= NumberRole::ddr_read && meaning.role <= NumberRole::vtcm_write);
  if (name.ends_with("(Hz)")) {
    meaning.quantity = NumberQuantity::hertz;
    meaning.additive = false;
  } else if (is_bytes) {
    meaning.quantity = NumberQuantity::bytes;
  } else if (name == "macs" || name == "hmx macs") {
    meaning.quantity = NumberQuantity::macs;
  } else if (is_share || is_rate) {
    meaning.quantity = is_share ? NumberQuantity::share : NumberQuantity::rate;
  }
  return meaning;
}

}  // namespace

NamedNumber number_named(MeasureKind kind, std::string_view name) {
  NamedNumber number(name, kind, meaning_named(kind, name));
  number.event = event_of_pmu_measure(name).value_or(0);
  return number;
}

NumberRole role_of_counter(std::string_view name) {
  if (name.starts_with("VTCM alloc")) return NumberRole::vtcm_allocated;
  return name.find("in flight") != name.npos ? NumberRole::bytes_in_flight : NumberRole::none;
}

}  // namespace npuscope
