#include "formats/qnn/write/write_text.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace npuscope::qnn::optrace {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

// Bytes of the UTF-8 character that `text` begins with; 0 when it does not begin with one.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xC2 ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const unsigned char second = length > 1 ? byte(1) : 0x80;
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool surrogate = first == 0xED && second >= 0xA0;
  const bool beyond = first == 0xF4 && second >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character_bytes(text);
    const auto c = static_cast<unsigned char>(text[0]);
    if (length == 0) {
      out += replacement;
    } else if (c == '"' || c == '\\') {
      out += {'\\', char(c)};
    } else if (c < 0x20) {
      out += fmt::format("\\u{:04x}", c);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::vector<std::uint32_t> ops_by_id(const OptraceSet& set) {
  std::vector<std::uint32_t> order(set.ops.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return set.ops[a].id < set.ops[b].id; });
  return order;
}

std::vector<std::uint32_t> representatives(const OptraceSet& set) {
  std::vector<std::uint32_t> first(set.ops.size(), ~0u);
  for (std::uint32_t i = 0; i < set.instances.size(); ++i) {
    const Instance& instance = set.instances[i];
    std::uint32_t& best = first[instance.op];
    const auto place = [](const Instance& it) { return std::tuple(it.tid, it.start_cycle); };
    if (best == ~0u || place(instance) < place(set.instances[best])) best = i;
  }
  return first;
}

const Phase* find_phase(const Execute& execute, std::string_view name) {
  for (const Phase& phase : execute) {
    if (phase.name == name) return &phase;
  }
  return nullptr;
}

std::uint64_t whole_microseconds(const OptraceSet& set, const Phase* phase) {
  if (phase == nullptr) return 0;
  // Multiplied first: the quotient of two whole numbers is not rounded below a whole one.
  return std::uint64_t(double(phase->end_ticks - phase->start_ticks) * 1e6 / set.timer_hz);
}

double cycles_per_packet(const Instance& instance) {
  return instance.packets == 0 ? 0
                               : double(float(double(instance.cycles) / double(instance.packets)));
}

}  // namespace npuscope::qnn::optrace
