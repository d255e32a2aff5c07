#include "formats/qaic/opstats/opstats_trace_render.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "formats/qaic/limits.hpp"
#include "formats/qaic/stats/stats_decoder.hpp"
#include "profile/shape_texts.hpp"

namespace npuscope::qaic {

using Json = JsonWriter<TextOutput>;

namespace {

using chrome::TracePhase;

// As printf("%f"), which would be most of the time that a trace takes.
std::string fixed6(double value) {
  const double scaled = std::abs(value) * 1e6 + 0.5;
  if (!(scaled < 9e18)) return fmt::format("{:.6f}", value);
  const auto millionths = std::uint64_t(scaled);
  const fmt::format_int whole(millionths / 1'000'000), rest(1'000'000 + millionths % 1'000'000);
  std::string text(value < 0 && millionths > 0 ? "-" : "");
  text.append(whole.data(), whole.size());
  text += '.';
  return text.append(rest.data() + 1, 6);
}

// The vendor's arguments are texts, numbers as well.
void add_integer(Json& json, std::string_view key, std::int64_t value) {
  json.key(key);
  json.quoted(value);
}

void add_fixed(Json& json, std::string_view key, double value) {
  json.key(key);
  json.quoted(fixed6(value));
}

void operands(Json& json, std::string_view rest) {
  for (std::size_t number = 0; !rest.empty(); ++number) {
    const auto end = std::min(rest.find('\n'), rest.size());
    json.member(fmt::format("opOperand{}", number), rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

// Transfers between devices say in their attributes which ports they join.
void port_args(Json& json, std::string_view attributes) {
  if (attribute_in(attributes, "PortType").value_or("").empty()) return;
  for (const std::string_view key : {"PortType", "PortDescription", "TransactionId"}) {
    json.member(key, attribute_in(attributes, key).value_or(""));
  }
}

}  // namespace

TraceRenderer::TraceRenderer(const Profile& profile, const TraceLayout& layout, bool mark_inference)
    : profile_(profile), layout_(layout) {
  if (mark_inference) {
    inference_ = std::int64_t(profile_measure(profile, measure::inference).value_or(0));
  }
  for (std::size_t i = 0; i < profile.ops.size(); ++i) {
    while (first_op_of_core_.size() <= profile.ops[i].core) {
      first_op_of_core_.push_back(std::uint32_t(i));
    }
  }
}

void TraceRenderer::metadata(TraceText& out, const TraceProcess& process) const {
  const auto add = [&](std::string_view what, std::string_view key, const auto& value) {
    out.add({.phase = TracePhase::metadata, .name = what, .process = process.pid},
            [&] { out.json().member(key, value); });
  };
  add("process_name", "name", process.name);
  add("process_sort_index", "sort_index", process.pid);
}

void TraceRenderer::metadata(TraceText& out, const TraceTrack& track) const {
  const auto add = [&](std::string_view what, std::string_view key, const auto& value) {
    out.add({.phase = TracePhase::metadata,
             .name = what,
             .process = layout_.processes()[track.process].pid,
             .thread = track.tid},
            [&] { out.json().member(key, value); });
  };
  add("thread_name", "name", track.name);
  add("thread_sort_index", "sort_index", track.sort_index);
}

void TraceRenderer::counters(TraceText& out, const TraceProcess& process) const {
  const auto add = [&](std::string_view name, std::int64_t time, std::string_view part,
                       const std::string& value) {
    out.add({.phase = TracePhase::counter, .name = name, .process = process.pid, .time = time},
            [&] {
              out.json().key(part);
              out.json().raw(value);
            });
  };
  for (const TraceCounter& counter : process.counters) {
    add("Freq", counter.time, "FreqMHz", fixed6(counter.megahertz));
  }
  for (const TraceSeries& series : process.series) {
    for (const auto& [time, value] : series.samples) {
      add(series.name, time, series.part, fmt::format("{:.0f}", value));
    }
  }
}

void TraceRenderer::events(TraceText& out, const TraceTrack& track, std::size_t begin,
                           std::size_t end) const {
  for (std::size_t i = begin; i < end; ++i) {
    slice(out, track, track.events[i]);
    if (track.events[i].flows_in || track.events[i].flows_out) {
      flow_ends(out, track, track.events[i]);
    }
  }
}

void TraceRenderer::slice(TraceText& out, const TraceTrack& track, const TraceEvent& event) const {
  const TraceProcess& process = layout_.processes()[track.process];
  const Op* op = event.op == OpId::none ? nullptr : &profile_.ops[index_of(event.op)];
  std::string made;
  std::string_view name;
  switch (event.type) {
    case TraceEvent::Type::sync: name = made = "sync " + track.group; break;
    case TraceEvent::Type::barrier: name = made = "barrier " + track.group; break;
    case TraceEvent::Type::execution:
      name = made = fmt::format("Core-{}-Execution", process.core);
      break;
    default: name = text(op->kind);
  }
  const auto write_arguments = [&] {
    if (op != nullptr) {
      op_args(out.json(), event, *op);
    } else {
      add_integer(out.json(), "core", process.core);
      rates(out.json(), event, Op{});
    }
    if (inference_) add_integer(out.json(), "inference", *inference_);
  };
  out.add({.name = name,
           .category = "aic",
           .process = process.pid,
           .thread = track.tid,
           .time = event.start,
           .duration = event.duration},
          write_arguments);
}

void TraceRenderer::op_args(Json& json, const TraceEvent& event, const Op& op) const {
  add_integer(json, "oc", op_number(event.op));
  json.member("opName", text(op.name));
  if (event.type == TraceEvent::Type::sync || event.type == TraceEvent::Type::barrier) {
    add_integer(json, "opUCycle", event.ucycles);
    // What is visible of the wait, so that ts + opSyncDurUs is where the op starts.
    if (event.type == TraceEvent::Type::sync) {
      add_fixed(json, "opSyncDurUs", double(event.duration) / 1e3);
    }
    return;
  }
  json.member("opKind", text(op.kind));
  json.member("opMemory", text(op.memory));
  rates(json, event, op);
  add_integer(json, "opOutputSize", op.output.value);
  if (op.attributes != StringId::empty) {
    json.member("opAttributes", text(op.attributes));
    port_args(json, text(op.attributes));
  }
  if (op.shape != StringId::empty) json.member("opShape", text(op.shape));
  operands(json, text(op.operands));
}

void TraceRenderer::rates(Json& json, const TraceEvent& event, const Op& op) const {
  const double kilobytes = double(op.output.value) / double(bytes_per_kilobyte);
  const double megahertz_per_ratio = 1e3 / layout_.tick_nanoseconds();
  if (event.pcycles >= 0) {
    add_integer(json, "opPCycle", event.pcycles);
    if (kilobytes > 0) add_fixed(json, "PCyclesPerKB", double(event.pcycles) / kilobytes);
  }
  add_integer(json, "opUCycle", event.ucycles);
  if (kilobytes > 0) add_fixed(json, "UCyclesPerKB", double(event.ucycles) / kilobytes);
  if (event.pcycles >= 0 && event.ucycles > 0) {
    add_fixed(json, "effectiveFreq",
              double(event.pcycles) / double(event.ucycles) * megahertz_per_ratio);
  }
}

void TraceRenderer::flow_ends(TraceText& out, const TraceTrack& track,
                              const TraceEvent& event) const {
  const std::uint32_t op = index_of(event.op);
  const auto each = [&](const FlowsOfOps& flows, bool leaves) {
    for (auto i = flows.begin[op]; i < flows.begin[op + 1]; ++i) {
      flow_end(out, track, layout_.flows()[flows.edges[i]], leaves, op_number(event.op));
    }
  };
  if (event.flows_in) each(layout_.flows_in(), false);
  if (event.flows_out) each(layout_.flows_out(), true);
}

void TraceRenderer::flow_end(TraceText& out, const TraceTrack& track, const TraceFlow& flow,
                             bool leaves, std::uint32_t number) const {
  out.add({.phase = leaves ? TracePhase::flow_begin : TracePhase::flow_end,
           .name = "dependency",
           .category = flow.is_data ? "true" : "false",
           .process = layout_.processes()[track.process].pid,
           .thread = track.tid,
           .id = flow.id,
           .time = leaves ? flow.leave : flow.arrive},
          [&] { add_integer(out.json(), "oc", number); });
}

}  // namespace npuscope::qaic
