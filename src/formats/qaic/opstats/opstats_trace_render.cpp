#include "formats/qaic/opstats/opstats_trace_render.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/json_writer.hpp"
#include "formats/qaic/limits.hpp"
#include "formats/qaic/stats/stats_decoder.hpp"

namespace npuscope::qaic {
namespace {

void append_digits(std::string& out, std::uint64_t value, int digits) {
  char text[20];
  for (int i = digits; i-- > 0; value /= 10) text[i] = char('0' + value % 10);
  out.append(text, std::size_t(digits));
}

// Every arg after the first: `, "key" : "`; the caller closes with a quote.
void open_arg(std::string& out, std::string_view key) {
  out += ", \"";
  out += key;
  out += "\" : \"";
}

void integer_arg(std::string& out, std::string_view key, std::int64_t value) {
  open_arg(out, key);
  append_integer(out, value);
  out += '"';
}

void fixed_arg(std::string& out, std::string_view key, double value) {
  open_arg(out, key);
  append_fixed6(out, value);
  out += '"';
}

// The value of `key` in attributes written as "{Key: value, Key: value}".
std::string_view attribute(std::string_view attributes, std::string_view key) {
  for (auto at = attributes.find(key); at != attributes.npos; at = attributes.find(key, at + 1)) {
    const bool begins_key = at > 0 && (attributes[at - 1] == '{' || attributes[at - 1] == ' ');
    const std::string_view rest = attributes.substr(at + key.size());
    if (begins_key && rest.starts_with(": ")) {
      return rest.substr(2, rest.find_first_of(",}", 2) - 2);
    }
  }
  return {};
}

}  // namespace

void append_integer(std::string& out, std::int64_t value) {
  char text[24];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  out.append(text, end);
}

void append_fixed6(std::string& out, double value) {
  const double scaled = std::abs(value) * 1e6 + 0.5;
  if (!(scaled < 9e18)) {
    out += fmt::format("{:.6f}", value);
    return;
  }
  const auto millionths = std::uint64_t(scaled);
  if (value < 0 && millionths > 0) out += '-';
  append_integer(out, std::int64_t(millionths / 1'000'000));
  out += '.';
  append_digits(out, millionths % 1'000'000, 6);
}

void append_time(std::string& out, std::int64_t nanoseconds) {
  append_integer(out, nanoseconds / 1000);
  out += '.';
  append_digits(out, std::uint64_t(nanoseconds % 1000), 3);
  out += '2';
}

void append_duration(std::string& out, std::int64_t nanoseconds) {
  if (nanoseconds <= 0) {
    out += '0';
    return;
  }
  // 0.2 ns short of it: (nanoseconds - 1) and 8 tenths, so that no duration overflows.
  append_integer(out, (nanoseconds - 1) / 1000);
  out += '.';
  append_digits(out, std::uint64_t((nanoseconds - 1) % 1000), 3);
  out += '8';
}

TraceRenderer::TraceRenderer(const Profile& profile, const TraceLayout& layout, bool mark_inference)
    : profile_(profile), layout_(layout) {
  if (mark_inference) {
    integer_arg(inference_, "inference",
                std::int64_t(profile_measure(profile, measure::inference).value_or(0)));
  }
  for (std::size_t i = 0; i < profile.ops.size(); ++i) {
    while (first_op_of_core_.size() <= profile.ops[i].core) {
      first_op_of_core_.push_back(std::uint32_t(i));
    }
  }
  is_plain_.resize(profile.strings.size());
  for (std::size_t i = 0; i < is_plain_.size(); ++i) {
    is_plain_[i] = needs_no_json_escape(profile.strings[StringId(i)]);
  }
}

void TraceRenderer::text(std::string& out, StringId id) const {
  if (is_plain_[std::uint32_t(id)]) {
    out += profile_.strings[id];
  } else {
    append_json_escaped(out, profile_.strings[id]);
  }
}

void TraceRenderer::metadata(std::string& out, const TraceProcess& process) const {
  std::string name;
  append_json_escaped(name, process.name);
  out +=
      fmt::format(R"({{"name": "process_name", "ph": "M", "pid": {}, "args": {{"name": "{}"}}}},)"
                  "\n",
                  process.pid, name);
  out += fmt::format(
      R"({{"name": "process_sort_index", "ph": "M", "pid": {}, "args": {{"sort_index": {}}}}},)"
      "\n",
      process.pid, process.pid);
}

void TraceRenderer::metadata(std::string& out, const TraceTrack& track) const {
  const std::uint32_t pid = layout_.processes()[track.process].pid;
  std::string name;
  append_json_escaped(name, track.name);
  out += fmt::format(
      R"({{"name": "thread_name", "ph": "M", "pid": {}, "tid": {}, "args": {{"name": "{}"}}}},)"
      "\n",
      pid, track.tid, name);
  out += fmt::format(
      R"({{"name": "thread_sort_index", "ph": "M", "pid": {}, "tid": {}, "args": {{"sort_index": {}}}}},)"
      "\n",
      pid, track.tid, track.sort_index);
}

void TraceRenderer::counters(std::string& out, const TraceProcess& process) const {
  for (const TraceCounter& counter : process.counters) {
    out += R"({"name": "Freq", "ph": "C", "pid": )";
    append_integer(out, process.pid);
    out += R"(, "ts": )";
    append_time(out, counter.time);
    out += R"(, "args": {"FreqMHz": )";
    append_fixed6(out, counter.megahertz);
    out += "}},\n";
  }
  for (const TraceSeries& series : process.series) {
    for (const auto& [time, value] : series.samples) {
      out +=
          fmt::format(R"({{"name": "{}", "ph": "C", "pid": {}, "ts": )", series.name, process.pid);
      append_time(out, time);
      out += fmt::format(R"(, "args": {{"{}": {:.0f}}}}},)", series.part, value);
      out += '\n';
    }
  }
}

void TraceRenderer::events(std::string& out, const TraceTrack& track, std::size_t begin,
                           std::size_t end) const {
  for (std::size_t i = begin; i < end; ++i) {
    slice(out, track, track.events[i]);
    if (track.events[i].flows_in || track.events[i].flows_out) {
      flow_ends(out, track, track.events[i]);
    }
  }
}

void TraceRenderer::slice(std::string& out, const TraceTrack& track,
                          const TraceEvent& event) const {
  const TraceProcess& process = layout_.processes()[track.process];
  const Op* op = event.op == OpId::none ? nullptr : &profile_.ops[index_of(event.op)];
  out += R"({"name": ")";
  switch (event.type) {
    case TraceEvent::Type::sync:
      out += "sync ";
      append_json_escaped(out, track.group);
      break;
    case TraceEvent::Type::barrier:
      out += "barrier ";
      append_json_escaped(out, track.group);
      break;
    case TraceEvent::Type::execution: out += fmt::format("Core-{}-Execution", process.core); break;
    default: text(out, op->kind);
  }
  out += R"(", "cat": "aic", "ph": "X", "pid": )";
  append_integer(out, process.pid);
  out += R"(, "tid": )";
  append_integer(out, track.tid);
  out += R"(, "ts": )";
  append_time(out, event.start);
  out += R"(, "dur": )";
  append_duration(out, event.duration);
  out += R"(, "args": {)";
  if (op != nullptr) {
    op_args(out, event, *op);
  } else {
    out += R"("core" : ")";
    append_integer(out, process.core);
    out += '"';
    rates(out, event, Op{});
  }
  out += inference_;
  out += "}},\n";
}

void TraceRenderer::op_args(std::string& out, const TraceEvent& event, const Op& op) const {
  out += R"("oc" : ")";
  append_integer(out, op_number(event.op));
  out += R"(", "opName" : ")";
  text(out, op.name);
  out += '"';
  if (event.type == TraceEvent::Type::sync || event.type == TraceEvent::Type::barrier) {
    integer_arg(out, "opUCycle", event.ucycles);
    // What is visible of the wait, so that ts + opSyncDurUs is where the op starts.
    if (event.type == TraceEvent::Type::sync) {
      fixed_arg(out, "opSyncDurUs", double(event.duration) / 1e3);
    }
    return;
  }
  open_arg(out, "opKind");
  text(out, op.kind);
  out += R"(", "opMemory" : ")";
  text(out, op.memory);
  out += '"';
  rates(out, event, op);
  integer_arg(out, "opOutputSize", op.output.value);
  if (op.attributes != StringId::empty) {
    open_arg(out, "opAttributes");
    text(out, op.attributes);
    out += '"';
    port_args(out, op);
  }
  if (op.shape != StringId::empty) {
    open_arg(out, "opShape");
    text(out, op.shape);
    out += '"';
  }
  operands(out, op);
}

void TraceRenderer::rates(std::string& out, const TraceEvent& event, const Op& op) const {
  const double kilobytes = double(op.output.value) / double(bytes_per_kilobyte);
  const double megahertz_per_ratio = 1e3 / layout_.tick_nanoseconds();
  if (event.pcycles >= 0) {
    integer_arg(out, "opPCycle", event.pcycles);
    if (kilobytes > 0) fixed_arg(out, "PCyclesPerKB", double(event.pcycles) / kilobytes);
  }
  integer_arg(out, "opUCycle", event.ucycles);
  if (kilobytes > 0) fixed_arg(out, "UCyclesPerKB", double(event.ucycles) / kilobytes);
  if (event.pcycles >= 0 && event.ucycles > 0) {
    fixed_arg(out, "effectiveFreq",
              double(event.pcycles) / double(event.ucycles) * megahertz_per_ratio);
  }
}

void TraceRenderer::operands(std::string& out, const Op& op) const {
  std::string_view rest = profile_.strings[op.operands];
  for (std::int64_t number = 0; !rest.empty(); ++number) {
    const auto end = std::min(rest.find('\n'), rest.size());
    out += R"(, "opOperand)";
    append_integer(out, number);
    out += R"(" : ")";
    append_json_escaped(out, rest.substr(0, end));
    out += '"';
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

// Transfers between devices say in their attributes which ports they join.
void TraceRenderer::port_args(std::string& out, const Op& op) const {
  const std::string_view attributes = profile_.strings[op.attributes];
  if (attribute(attributes, "PortType").empty()) return;
  for (const std::string_view key : {"PortType", "PortDescription", "TransactionId"}) {
    open_arg(out, key);
    append_json_escaped(out, attribute(attributes, key));
    out += '"';
  }
}

void TraceRenderer::flow_ends(std::string& out, const TraceTrack& track,
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

void TraceRenderer::flow_end(std::string& out, const TraceTrack& track, const TraceFlow& flow,
                             bool leaves, std::uint32_t number) const {
  out += R"({"name": "dependency", "cat": ")";
  out += flow.is_data ? "true" : "false";
  out += leaves ? R"(", "ph": "s", "id": )" : R"(", "ph": "f", "bp": "e", "id": )";
  append_integer(out, std::int64_t(flow.id));
  out += R"(, "pid": )";
  append_integer(out, layout_.processes()[track.process].pid);
  out += R"(, "tid": )";
  append_integer(out, track.tid);
  out += R"(, "ts": )";
  append_time(out, leaves ? flow.leave : flow.arrive);
  out += R"(, "args": {"oc" : ")";
  append_integer(out, number);
  out += "\"}},\n";
}

}  // namespace npuscope::qaic
