#include "formats/chrome/write/write_spans.hpp"

#include <fmt/format.h>

#include "profile/names.hpp"

namespace npuscope::chrome {

void SpanWriter::write_async(std::size_t row) {
  const Spans& spans = profile_.spans;
  const std::size_t op = index_of(spans.op[row]);
  const bool has_op = op < profile_.ops.size();
  const std::string id = fmt::format("\"{}\"", row + 1);
  TraceEvent event =
      out_.event(TracePhase::async_begin, has_op ? out_.text(profile_.ops[op].name) : "",
                 layout_.track(spans.unit[row]));
  event.id = TraceId::of_json(id);
  event.time = out_.nanoseconds.of(spans.start[row]);
  event.category = has_op ? out_.text(profile_.ops[op].kind) : "";
  arguments_.add(event, row);
  event.phase = TracePhase::async_end;
  event.time = out_.nanoseconds.of(end_of(row));
  out_.events.add(event);
}

std::string_view SpanWriter::name_of(std::size_t row) {
  const SpanKind kind = profile_.spans.kind[row];
  const std::size_t op = index_of(profile_.spans.op[row]);
  if (op >= profile_.ops.size()) return is_plain(kind) ? "" : stable_name(kind);
  const std::string_view name = out_.text(profile_.ops[op].name);
  if (!is_wait(kind)) return name;
  wait_name_.assign(wait_prefix(kind));
  wait_name_ += ' ';
  return wait_name_ += name;
}

void SpanWriter::set_category(TraceEvent& event, std::size_t row) const {
  const std::size_t op = index_of(profile_.spans.op[row]);
  if (op < profile_.ops.size() && profile_.ops[op].kind != StringId::empty) {
    event.category = out_.text(profile_.ops[op].kind);
  }
}

void SpanWriter::write_instant(std::size_t row) {
  const Spans& spans = profile_.spans;
  TraceEvent event = out_.event(TracePhase::instant, name_of(row), layout_.track(spans.unit[row]));
  event.time = out_.nanoseconds.of(spans.start[row]);
  if (const auto scope = arguments_.scope_of(row)) event.scope = out_.text(scope->text());
  set_category(event, row);
  arguments_.add(event, row);
}

const std::string& SpanWriter::make_before_time(std::uint32_t track) {
  if (track >= before_time_.size()) before_time_.resize(track + 1);
  std::string& text = before_time_[track];
  return text = out_.events.parts(out_.event(TracePhase::complete, "", track)).before_time;
}

void SpanWriter::make_op_text(OpText& text, std::size_t row) {
  TraceEvent event = out_.event(TracePhase::complete, name_of(row), 0);
  set_category(event, row);
  text.after_duration = out_.events.parts(event).after_duration;
  text.arguments = arguments_.members_of_op(row);
}

void SpanWriter::write_slice(std::size_t row) {
  const Spans& spans = profile_.spans;
  const std::uint32_t track = layout_.track(profile_, row);
  const bool is_known = track < before_time_.size() && !before_time_[track].empty();
  const std::string& before_time = is_known ? before_time_[track] : make_before_time(track);
  const std::uint32_t op = index_of(spans.op[row]);
  OpText& text = recent_ops_[op % most_recent_ops];
  const std::uint64_t of = std::uint64_t(spans.kind[row]) << 32 | op;
  if (text.of != of) make_op_text(text, row);
  text.of = of;
  const auto arguments = arguments_.of(row, text.arguments);
  const std::int64_t from = out_.nanoseconds.of(spans.start[row]);
  const std::int64_t to = out_.nanoseconds.of(end_of(row));
  out_.events.add(before_time, from, saturating_subtract(to, from), text.after_duration,
                  arguments.any(), arguments_.most(arguments),
                  [&](char* at) { return arguments_.print(at, arguments); });
}

void SpanWriter::write(std::size_t row) {
  switch (profile_.spans.kind[row]) {
    case SpanKind::async: return write_async(row);
    case SpanKind::instant: return write_instant(row);
    default: return write_slice(row);
  }
}

}  // namespace npuscope::chrome
