#include "formats/chrome/write/write_spans.hpp"

#include <fmt/format.h>

#include "base/parallel.hpp"
#include "base/pipeline.hpp"
#include "profile/names.hpp"

namespace npuscope::chrome {
namespace {

// The place of each span's line; empty: that of its row.
std::vector<std::uint32_t> lines_of(const Layout& layout) {
  std::vector<std::uint32_t> line_of(layout.order.size());
  for (std::uint32_t line = 0; line < layout.order.size(); ++line) {
    line_of[layout.order[line]] = line;
  }
  return line_of;
}

}  // namespace

FlowWriter::FlowWriter(const Profile& profile, const RowsByUnit& by_unit, const Layout& layout,
                       const Nanoseconds& nanoseconds)
    : profile_(profile), layout_(layout) {
  if (profile_.flows.empty()) return;
  const std::size_t rows = profile_.spans.size();
  std::vector<bool> wanted(rows, false);
  const auto exists = [&](const Flow& flow) {
    return index_of(flow.from) < rows && index_of(flow.to) < rows;
  };
  for (const Flow& flow : profile_.flows) {
    if (!exists(flow)) continue;
    wanted[index_of(flow.from)] = wanted[index_of(flow.to)] = true;
  }
  const auto anchors = anchors_of(profile_, by_unit, layout_, nanoseconds, wanted);
  const std::vector<std::uint32_t> line_of = lines_of(layout_);
  for (std::uint32_t i = 0; i < profile_.flows.size(); ++i) {
    const Flow& flow = profile_.flows[i];
    if (!exists(flow)) continue;
    place(i, anchors[index_of(flow.from)], anchors[index_of(flow.to)], line_of);
  }
  std::stable_sort(ends_.begin(), ends_.end(),
                   [](const End& a, const End& b) { return a.behind < b.behind; });
  if (!ends_.empty()) has_ends_.assign(rows, false);
  for (const End& end : ends_) has_ends_[end.behind] = true;
}

void FlowWriter::place(std::uint32_t flow, const Anchor& from, const Anchor& to,
                       const std::vector<std::uint32_t>& line_of) {
  const std::uint32_t source = index_of(profile_.flows[flow].from);
  const std::uint32_t target = index_of(profile_.flows[flow].to);
  const std::int64_t leave = from.holds_at_start ? from.start : from.first;
  const std::int64_t soonest = to.holds_at_start ? to.start : to.first;
  // An arrow into a slice that is under way: where time allows.
  const std::int64_t arrive = leave <= soonest ? soonest : to.last;
  if (leave > arrive) {
    backwards_ += 1;
    return;
  }
  last_id_ += 1;
  // At one moment the lines decide, and an arrow must leave before it arrives: behind its source.
  const auto line = [&](std::uint32_t row) { return line_of.empty() ? row : line_of[row]; };
  const bool together = leave == arrive && line(target) < line(source);
  const bool at_start =
      from.holds_at_start && to.holds_at_start && arrive == to.start && (!together || to.stays);
  misread_ += !at_start;
  if (!at_start) {
    rest_.push_back({source, flow, last_id_, leave, false});
    rest_.push_back({target, flow, last_id_, arrive, true});
    return;
  }
  ends_.push_back({source, flow, last_id_, leave, false});
  ends_.push_back({together ? source : target, flow, last_id_, arrive, true});
}

void FlowWriter::write_ends(std::size_t row, EventOutput& out) const {
  auto end = std::lower_bound(ends_.begin(), ends_.end(), row,
                              [](const End& a, std::size_t wanted) { return a.behind < wanted; });
  for (; end != ends_.end() && end->behind == row; ++end) write_end(*end, out);
}

void FlowWriter::write_rest(EventOutput& out) const {
  for (const End& end : rest_) write_end(end, out);
}

void FlowWriter::write_end(const End& end, EventOutput& out) const {
  const Flow& flow = profile_.flows[end.flow];
  const auto named = [&](StringId name) {
    return name == StringId::empty ? "flow" : out.text(name);
  };
  TraceEvent event =
      out.event(end.arrives ? TracePhase::flow_end : TracePhase::flow_begin, named(flow.name),
                layout_.track(profile_, index_of(end.arrives ? flow.to : flow.from)));
  event.category = named(flow.category);
  event.id = end.id;
  event.time = end.time;
  out.events.add(event);
}

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

void SpanWriter::make_before_time(std::uint32_t track) {
  before_time_[track] = out_.events.parts(out_.event(TracePhase::complete, "", track)).before_time;
}

void SpanWriter::make_op_text(OpText& text, std::size_t row) {
  TraceEvent event = out_.event(TracePhase::complete, name_of(row), 0);
  set_category(event, row);
  text.after_duration = out_.events.parts(event).after_duration;
  text.extras = arguments_.extras_of(row);
}

void SpanWriter::write_slice(std::size_t row) {
  const Spans& spans = profile_.spans;
  const std::uint32_t track = layout_.track(profile_, row);
  const std::string& before_time = before_time_[track];
  if (before_time.empty()) make_before_time(track);
  const std::uint32_t op = index_of(spans.op[row]);
  OpText& text = recent_ops_[op & bits_of_recent_];
  const std::uint64_t of = std::uint64_t(spans.kind[row]) << 32 | op;
  if (text.of != of) make_op_text(text, row);
  text.of = of;
  const auto arguments = arguments_.of(row, text.extras);
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

namespace {

constexpr std::size_t lines_of_block = 4096;
// Of a block, in characters: a line may repeat a long text, and is printed without delay then.
constexpr std::size_t enough = std::size_t{4} << 20;
// More than that print faster than anything takes their text.
constexpr std::size_t most_blocks = 8;

}  // namespace

void BlockWriter::write_line(std::size_t line, SpanWriter& spans, EventOutput& out) const {
  const std::size_t row = layout_.order.empty() ? line : layout_.order[line];
  spans.write(row);
  flows_.write_behind(row, out);
}

void BlockWriter::print(Block& block) const {
  block.out.out.clear();
  std::size_t line = block.first;
  while (line < block.end && block.out.out.text().size() < enough) {
    write_line(line++, block.spans, block.out);
  }
  block.printed = line;
}

void BlockWriter::hand_on(Block& block) {
  out_.out.hand_on(block.out.out.text());
  for (std::size_t line = block.printed; line < block.end; ++line) {
    write_line(line, *alone_, out_);
  }
}

// Blocks that are under way at once are neighbours.
BlockWriter::Block& BlockWriter::block_for(std::size_t number) {
  std::unique_ptr<Block>& block = blocks_[number % blocks_.size()];
  if (!block) block = std::make_unique<Block>(*this);
  return *block;
}

void BlockWriter::write(const ProgressReport& progress) {
  const std::size_t lines = profile_.spans.size();
  alone_ = std::make_unique<SpanWriter>(profile_, layout_, longest_text_, out_);
  // The first event of the list has no comma before it.
  std::size_t next = std::min<std::size_t>(lines, 1);
  if (next > 0) write_line(0, *alone_, out_);
  blocks_.resize(std::min(workers() + 1, most_blocks));
  std::size_t number = 0;
  const auto begin = [&]() -> Block* {
    if (next == lines) return nullptr;
    Block& block = block_for(number++);
    block.first = next;
    block.end = next = std::min(lines, next + lines_of_block);
    return &block;
  };
  const auto end = [&](Block* block) {
    hand_on(*block);
    if (progress) progress(block->end, lines);
  };
  run_pipeline<Block*>(
      blocks_.size(), begin, [&](Block* block) { print(*block); }, end);
}

std::uint64_t BlockWriter::not_finite() const {
  std::uint64_t all = alone_ ? alone_->not_finite() : 0;
  for (const auto& block : blocks_) all += block ? block->spans.not_finite() : 0;
  return all;
}

}  // namespace npuscope::chrome
