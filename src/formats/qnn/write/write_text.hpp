// What the writers share: text in pieces, strings as JSON, ids, numbers as the viewer prints
// them.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>

#include "formats/qnn/write/write.hpp"

namespace npuscope::qnn::optrace {

inline constexpr std::uint32_t not_executed_tid = 1;

// Collects text and hands it on in large pieces.
class TextWriter {
 public:
  explicit TextWriter(const TextSink& sink) : sink_(sink) {}
  TextWriter(const TextWriter&) = delete;
  TextWriter& operator=(const TextWriter&) = delete;
  ~TextWriter() { flush(); }

  template <class... Args>
  void print(fmt::format_string<Args...> text, Args&&... args) {
    fmt::format_to(std::back_inserter(buffer_), text, std::forward<Args>(args)...);
    if (buffer_.size() >= piece_bytes) flush();
  }
  void add(std::string_view text) {
    buffer_.append(text.data(), text.data() + text.size());
    if (buffer_.size() >= piece_bytes) flush();
  }

 private:
  static constexpr std::size_t piece_bytes = std::size_t{1} << 18;
  void flush() {
    if (buffer_.size() > 0) sink_({buffer_.data(), buffer_.size()});
    buffer_.clear();
  }
  const TextSink& sink_;
  fmt::memory_buffer buffer_;
};

// As the inside of a JSON string: quotes, backslashes and control characters escaped, bytes that
// are not UTF-8 replaced.
std::string escaped(std::string_view text);

inline std::string padded_id(std::uint64_t id) { return fmt::format("0x{:016x}", id); }

// Ops by id, as the viewer lists tensors and nodes.
std::vector<std::uint32_t> ops_by_id(const OptraceSet& set);

// By op: its instance with the lowest (tid, start), which stands for all its slices; none: ~0u.
std::vector<std::uint32_t> representatives(const OptraceSet& set);

// Of a thread in cycles per instruction packet; 0 when packets were not counted.
double cycles_per_packet(const Instance& instance);

// The phase of an execute with this name; null when it has none.
const Phase* find_phase(const Execute& execute, std::string_view name);

// Of a phase, rounded down; 0 for null.
std::uint64_t whole_microseconds(const OptraceSet& set, const Phase* phase);

}  // namespace npuscope::qnn::optrace
