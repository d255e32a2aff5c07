#include "formats/chrome/write/write_spans.hpp"

#include "profile/names.hpp"

namespace npuscope::chrome {
void SpanWriter::write_async(std::size_t row) {
  const Spans& spans = profile_.spans;
  const std::size_t op = index_of(spans.op[row]);
  const auto write_end = [&](const char* phase, std::int64_t time, bool with_arguments) {
    out_.begin_event();
    out_.add("{\"ph\":\"");
    out_.add(phase);
    out_.add("\",\"id\":\"");
    out_.add_number(row + 1);
    out_.add('"');
    out_.add_place(layout_.track(spans.unit[row]));
    out_.add(",\"ts\":");
    out_.add_time(time);
    out_.add(",\"cat\":");
    out_.add_string(op < profile_.ops.size() ? profile_.ops[op].kind : StringId::empty);
    out_.add(",\"name\":");
    out_.add_string(op < profile_.ops.size() ? profile_.ops[op].name : StringId::empty);
    if (with_arguments) arguments_.write(row);
    out_.add('}');
  };
  write_end("b", spans.start[row], true);
  write_end("e", end_of(row), false);
}

void SpanWriter::write(std::size_t row) {
  const Spans& spans = profile_.spans;
  const SpanKind kind = spans.kind[row];
  if (kind == SpanKind::async) return write_async(row);
  const std::size_t op = index_of(spans.op[row]);
  out_.begin_event();
  if (kind == SpanKind::instant) {
    out_.add("{\"ph\":\"i\"");
    if (const auto scope = arguments_.scope_of(row)) {
      out_.add(",\"s\":");
      out_.add_string(scope->text());
    }
  } else {
    out_.add("{\"ph\":\"X\"");
  }
  out_.add_place(kind == SpanKind::instant ? layout_.track(spans.unit[row])
                                           : layout_.track(profile_, row));
  if (kind == SpanKind::instant) {
    out_.add(",\"ts\":");
    out_.add_time(spans.start[row]);
  } else {
    out_.add_interval(spans.start[row], end_of(row));
  }
  if (op < profile_.ops.size()) {
    if (profile_.ops[op].kind != StringId::empty) {
      out_.add(",\"cat\":");
      out_.add_string(profile_.ops[op].kind);
    }
    out_.add(",\"name\":\"");
    if (is_wait(kind)) {
      out_.add(wait_prefix(kind));
      out_.add(' ');
    }
    out_.add_inside(profile_.ops[op].name);
  } else {
    out_.add(",\"name\":\"");
    out_.add(is_plain(kind) ? "" : stable_name(kind));
  }
  out_.add('"');
  arguments_.write(row);
  out_.add('}');
}

}  // namespace npuscope::chrome
