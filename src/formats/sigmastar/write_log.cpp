#include "formats/sigmastar/write_log.hpp"

#include <algorithm>
#include <optional>

namespace npuscope::sigmastar {

namespace {

bool same(const BitField& a, const BitField& b) { return a.bit == b.bit && a.bits == b.bits; }

// Where one field says both engine and mark, the value that means both.
std::optional<std::uint64_t> common_value(const std::vector<std::uint64_t>& a,
                                          const std::vector<std::uint64_t>& b) {
  const auto found = std::find_first_of(a.begin(), a.end(), b.begin(), b.end());
  return found == a.end() ? std::nullopt : std::optional(*found);
}

}  // namespace

LogWriter::LogWriter(LogLayout layout, std::uint64_t buffer_bytes)
    : layout_(std::move(layout)), buffer_bytes_(buffer_bytes), bytes_(layout_.header_bytes, '\0') {}

void LogWriter::write(const LogRecord& of) {
  const std::uint64_t number = number_++;
  const auto& values = layout_.engine_values[std::size_t(of.engine)];
  const auto& marks = of.mark == LogMark::begin ? layout_.begin_marks : layout_.end_marks;
  const bool is_one_field = same(layout_.engine, layout_.mark);
  const auto both = is_one_field ? common_value(values, marks) : std::nullopt;
  const bool has_code = is_one_field ? both.has_value() : !values.empty() && !marks.empty();
  if (bytes_.size() + layout_.record_bytes > buffer_bytes_ || !has_code) {
    ++lost_;
    return;
  }
  const std::size_t at = bytes_.size();
  bytes_.resize(at + layout_.record_bytes + sizeof(std::uint64_t), '\0');  // a field writes 8 bytes
  auto* record = reinterpret_cast<std::byte*>(bytes_.data() + at);
  PlacedField(layout_.time).write(record, of.cycles / std::uint64_t(layout_.cycles_per_tick));
  PlacedField(layout_.layer).write(record, of.layer);
  PlacedField(layout_.engine).write(record, both ? *both : values.front());
  PlacedField(layout_.mark).write(record, both ? *both : marks.front());
  if (layout_.tile) PlacedField(*layout_.tile).write(record, of.tile);
  if (layout_.bytes) PlacedField(*layout_.bytes).write(record, of.bytes);
  if (layout_.sequence) PlacedField(*layout_.sequence).write(record, number);
  bytes_.resize(at + layout_.record_bytes);
}

}  // namespace npuscope::sigmastar
