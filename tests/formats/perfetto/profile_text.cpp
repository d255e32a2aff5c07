#include "formats/perfetto/profile_text.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "formats/perfetto/read/read.hpp"

namespace npuscope::perfetto::test {
namespace {

const char* kind_name(SpanKind kind) {
  constexpr const char* names[] = {"op",        "sync",       "barrier", "transfer",
                                   "inference", "activation", "host",    "dma wait",
                                   "slice",     "async",      "instant"};
  return std::size_t(kind) < std::size(names) ? names[std::size_t(kind)] : "unknown kind";
}

const char* engine_name(Engine engine) {
  switch (engine) {
    case Engine::process: return "process";
    case Engine::thread: return "thread";
    case Engine::other: return "track";
    default: return "other engine";
  }
}

std::string value_text(const Profile& profile, const Argument& argument) {
  switch (argument.key.type) {
    case ArgumentType::null: return "null";
    case ArgumentType::boolean: return argument.boolean() ? "true" : "false";
    case ArgumentType::integer: return fmt::format("{}", argument.integer());
    case ArgumentType::unsigned_integer: return fmt::format("{}u", argument.unsigned_integer());
    case ArgumentType::number: return fmt::format("{:#}", argument.number());
    case ArgumentType::text: return fmt::format("\"{}\"", profile.text(argument.text()));
    case ArgumentType::json: return std::string(profile.text(argument.text()));
  }
  return "?";
}

std::string unit_text(const Profile& profile, UnitId id) {
  if (id == UnitId::none) return "trace";
  const Unit& unit = profile.units[index_of(id)];
  std::string text(profile.text(unit.name));
  if (unit.lane > 0) text += fmt::format(" lane {}", unit.lane);
  return text;
}

std::string span_text(const Profile& profile, std::uint32_t row) {
  const Spans& spans = profile.spans;
  std::string text = fmt::format("{} +{} {} on {}", spans.start[row], spans.duration[row],
                                 kind_name(spans.kind[row]), unit_text(profile, spans.unit[row]));
  if (spans.op[row] != OpId::none) {
    const Op& op = profile.ops[index_of(spans.op[row])];
    text += fmt::format(": {}", profile.text(op.name));
    if (op.kind != StringId{}) text += fmt::format(" [{}]", profile.text(op.kind));
  }
  for (std::size_t i = 0; i < spans.arguments.count(row); ++i) {
    const Argument argument = spans.arguments.at(row, i);
    text += fmt::format(" {}={}", profile.text(argument.key.name), value_text(profile, argument));
  }
  return text + "\n";
}

}  // namespace

Profile read(std::string_view trace) {
  auto source = open_byte_source(trace, "test.pftrace");
  EXPECT_TRUE(source);
  auto profile = read_profile(**source);
  EXPECT_TRUE(profile) << (profile ? "" : profile.error().message);
  return profile ? std::move(*profile) : Profile{};
}

std::string read_as_text(std::string_view trace) {
  auto source = open_byte_source(trace, "test.pftrace");
  const auto profile = read_profile(**source);
  return profile ? text_of(*profile) : profile.error().message + "\n";
}

std::string text_of_notes(const Profile& profile) {
  std::string text;
  for (const Note& note : profile.notes) {
    text += fmt::format("note at {}: {} x {}\n", note.offset, note.count, note.message);
  }
  return text;
}

std::string text_of(const Profile& profile) {
  std::string text;
  for (const Unit& unit : profile.units) {
    for (UnitId at = unit.parent; at != UnitId::none; at = profile.units[index_of(at)].parent) {
      text += "  ";
    }
    text += fmt::format("{} {}", engine_name(unit.engine), profile.text(unit.name));
    if (unit.lane > 0) text += fmt::format(" lane {}", unit.lane);
    if (unit.process_id != StringId{})
      text += fmt::format(" pid {}", profile.text(unit.process_id));
    if (unit.thread_id != StringId{}) text += fmt::format(" tid {}", profile.text(unit.thread_id));
    text += "\n";
  }
  for (std::uint32_t row = 0; row < profile.spans.size(); ++row) text += span_text(profile, row);
  const Counters& counters = profile.counters;
  for (std::size_t i = 0; i < counters.size(); ++i) {
    const CounterSeries& series = counters.series[counters.of[i]];
    text +=
        fmt::format("{} counter {} of {}{}{}: {}\n", counters.time[i], profile.text(series.name),
                    unit_text(profile, series.unit), series.part == StringId{} ? "" : " part ",
                    profile.text(series.part), counters.value[i]);
  }
  for (const Flow& flow : profile.flows) {
    text += fmt::format("flow {} -> {}{}\n", index_of(flow.from), index_of(flow.to),
                        flow.name == StringId{} ? "" : fmt::format(" {}", profile.text(flow.name)));
  }
  return text + text_of_notes(profile);
}

}  // namespace npuscope::perfetto::test
