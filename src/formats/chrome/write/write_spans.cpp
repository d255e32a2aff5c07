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

void SpanWriter::write(std::size_t row) {
  const Spans& spans = profile_.spans;
  const SpanKind kind = spans.kind[row];
  if (kind == SpanKind::async) return write_async(row);
  const bool is_instant = kind == SpanKind::instant;
  // Never assigned as a whole: the processor waits for its parts, and a file has millions of them.
  TraceEvent event =
      out_.event(is_instant ? TracePhase::instant : TracePhase::complete, name_of(row),
                 is_instant ? layout_.track(spans.unit[row]) : layout_.track(profile_, row));
  if (is_instant) {
    event.time = out_.nanoseconds.of(spans.start[row]);
    if (const auto scope = arguments_.scope_of(row)) event.scope = out_.text(scope->text());
  } else {
    out_.set_times(event, {spans.start[row], end_of(row)});
  }
  const std::size_t op = index_of(spans.op[row]);
  if (op < profile_.ops.size() && profile_.ops[op].kind != StringId::empty) {
    event.category = out_.text(profile_.ops[op].kind);
  }
  arguments_.add(event, row);
}

}  // namespace npuscope::chrome
