#include "formats/chrome/write/write_flows.hpp"

#include <algorithm>

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

FlowWriter::FlowWriter(const Profile& profile, const SpansByUnit& by_unit, const Layout& layout,
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

}  // namespace npuscope::chrome
