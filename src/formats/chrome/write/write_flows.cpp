#include "formats/chrome/write/write_flows.hpp"

#include <vector>

namespace npuscope::chrome {

void FlowWriter::write_end(char phase, const Flow& flow, std::uint64_t id, SpanId span,
                           std::int64_t time) {
  out_.begin_event();
  out_.add("{\"ph\":\"");
  out_.add(phase);
  out_.add(phase == 'f' ? std::string_view("\",\"bp\":\"e\",\"id\":")
                        : std::string_view("\",\"id\":"));
  out_.add_number(id);
  out_.add_place(layout_.track(profile_, index_of(span)));
  out_.add(",\"ts\":");
  out_.add_time(time);
  out_.add(",\"cat\":");
  if (flow.category == StringId::empty) {
    out_.add("\"flow\"");
  } else {
    out_.add_string(flow.category);
  }
  out_.add(",\"name\":");
  if (flow.name == StringId::empty) {
    out_.add("\"flow\"");
  } else {
    out_.add_string(flow.name);
  }
  out_.add('}');
}

std::uint64_t FlowWriter::write() {
  if (profile_.flows.empty()) return 0;
  const std::size_t rows = profile_.spans.size();
  std::vector<bool> wanted(rows, false);
  const auto exists = [&](const Flow& flow) {
    return index_of(flow.from) < rows && index_of(flow.to) < rows;
  };
  for (const Flow& flow : profile_.flows) {
    if (!exists(flow)) continue;
    wanted[index_of(flow.from)] = wanted[index_of(flow.to)] = true;
  }
  const auto anchors = anchors_of(profile_, by_unit_, layout_, wanted);
  std::uint64_t id = 0, backwards = 0;
  for (const Flow& flow : profile_.flows) {
    if (!exists(flow)) continue;
    const Anchor& from = anchors[index_of(flow.from)];
    const Anchor& to = anchors[index_of(flow.to)];
    // From the end of the one to the begin of the other, where time allows.
    const bool late = from.last <= to.first || (from.first > to.first && from.last <= to.last);
    const std::int64_t leave = late ? from.last : from.first;
    const std::int64_t arrive = leave <= to.first ? to.first : to.last;
    if (leave > arrive) {
      backwards += 1;
      continue;
    }
    id += 1;
    write_end('s', flow, id, flow.from, leave);
    write_end('f', flow, id, flow.to, arrive);
  }
  return backwards;
}

}  // namespace npuscope::chrome
