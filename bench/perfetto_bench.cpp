// How fast Perfetto traces are read and written, on one thread, beside a bare walk over the same
// packets: bytes are those of the trace, items its slices.
//
//   walk          takes every packet apart into its fields and looks at nothing
//   read          the profile
//   write         the trace again, into memory
//
// "names" is a trace without arguments, "arguments" one with four on each slice; both in the form
// of Perfetto's own writers (interned names, times as differences). "plain" has absolute times and
// names that are not interned, as scripts write traces.
#include <benchmark/benchmark.h>

#include <array>
#include <bit>
#include <memory>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <string>

#include "formats/perfetto/read/read.hpp"
#include "npuscope/formats/perfetto/write.hpp"

namespace npuscope::perfetto {
namespace {

constexpr std::uint32_t tracks = 16;
constexpr std::uint32_t slices_per_track = 125'000;
constexpr std::uint32_t op_count = 2'000;
constexpr std::int64_t slices = std::int64_t{tracks} * slices_per_track;

// An NPU's cores: ops one after the other, every fourth with one nested in it.
Profile make_profile(bool arguments) {
  Profile profile;
  profile.clocks.push_back(
      {profile.strings.intern("boottime"), ClockKind::wall, Hertz{1e9}, true, 0});
  for (std::uint32_t i = 0; i < op_count; ++i) {
    Op op;
    op.name = profile.strings.intern("/model/layers." + std::to_string(i) + "/attn/MatMul");
    op.kind = profile.strings.intern("kernel" + std::to_string(i % 20));
    profile.ops.push_back(op);
  }
  Spans& spans = profile.spans;
  for (std::uint32_t track = 0; track < tracks; ++track) {
    Unit unit;
    unit.engine = Engine::other;
    unit.name = profile.strings.intern("core " + std::to_string(track));
    profile.units.push_back(unit);
    std::int64_t now = 1'000'000'000'000;
    std::int64_t start = 0;
    for (std::uint32_t i = 0; i < slices_per_track; ++i) {
      const bool nested = i % 4 == 3;
      if (!nested) now += 1500 + i % 700;
      if (!nested) start = now;
      spans.unit.push_back(UnitId(track));
      spans.op.push_back(OpId(i % op_count));
      spans.kind.push_back(SpanKind::slice);
      spans.start.push_back(nested ? start + 200 : start);
      spans.duration.push_back(nested ? 500 : 1200);
    }
  }
  if (!arguments) return profile;
  Arguments& all = spans.arguments;
  all.shapes.push_back({{profile.strings.intern("cycles"), ArgumentType::integer},
                        {profile.strings.intern("frequency"), ArgumentType::number},
                        {profile.strings.intern("bytes"), ArgumentType::integer},
                        {profile.strings.intern("memory"), ArgumentType::text}});
  const StringId memories[] = {profile.strings.intern("DDR"), profile.strings.intern("VTCM")};
  for (std::uint32_t row = 0; row < spans.size(); ++row) {
    all.add(row, 1,
            std::array<std::uint64_t, 4>{100'000 + row % 5000,
                                         std::bit_cast<std::uint64_t>(1450.25 + row % 3),
                                         4096 * (row % 100), std::uint64_t(memories[row % 2])});
  }
  return profile;
}

std::string written(const Profile& profile) {
  std::string bytes;
  const Profile* profiles[] = {&profile};
  write_trace(profiles, [&](std::string_view piece) { bytes += piece; });
  return bytes;
}

std::string plain_trace(const Profile& profile) {
  std::string bytes;
  protozero::pbf_writer trace(bytes);
  const auto event = [&](std::int64_t time, std::uint32_t track, int type, std::string_view name) {
    protozero::pbf_writer packet(trace, 1);
    packet.add_uint64(8, std::uint64_t(time));
    packet.add_uint32(10, 1);
    protozero::pbf_writer track_event(packet, 11);
    track_event.add_enum(9, type);
    track_event.add_uint64(11, track + 1);
    if (!name.empty()) track_event.add_string(23, name.data(), name.size());
  };
  for (std::uint32_t row = 0; row < profile.spans.size(); ++row) {
    const bool nested = row % 4 == 3;
    if (nested) continue;
    const Spans& spans = profile.spans;
    const std::uint32_t track = index_of(spans.unit[row]);
    const auto name = [&](std::uint32_t of) {
      return profile.text(profile.ops[index_of(spans.op[of])].name);
    };
    event(spans.start[row], track, 1, name(row));
    const bool encloses = row % 4 == 2;
    if (encloses) {
      event(spans.start[row + 1], track, 1, name(row + 1));
      event(spans.start[row + 1] + spans.duration[row + 1], track, 2, {});
    }
    event(spans.start[row] + spans.duration[row], track, 2, {});
  }
  return bytes;
}

enum Form : int { names, arguments, plain };

const Profile& profile_of(Form form) {
  static const Profile without = make_profile(false);
  static const Profile with = make_profile(true);
  return form == arguments ? with : without;
}

const std::string& trace_of(Form form) {
  static const std::string traces[] = {written(profile_of(names)), written(profile_of(arguments)),
                                       plain_trace(profile_of(names))};
  return traces[form];
}

void count(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(state.iterations() * std::int64_t(bytes));
  state.SetItemsProcessed(state.iterations() * slices);
}

std::uint64_t walk_message(std::string_view message, int levels) {
  std::uint64_t fields = 0;
  protozero::pbf_reader reader(message.data(), message.size());
  while (reader.next()) {
    ++fields;
    const bool is_message = reader.tag() == (levels == 2 ? 1u : 11u);
    if (levels > 0 && is_message) {
      const auto view = reader.get_view();
      fields += walk_message({view.data(), view.size()}, levels - 1);
    } else {
      reader.skip();
    }
  }
  return fields;
}

void walk(benchmark::State& state, Form form) {
  const std::string& trace = trace_of(form);
  for (auto _ : state) benchmark::DoNotOptimize(walk_message(trace, 2));
  count(state, trace.size());
}

void read(benchmark::State& state, Form form) {
  const std::string& trace = trace_of(form);
  for (auto _ : state) {
    const auto source = open_byte_source(trace, "bench");
    const auto profile = read_profile(**source);
    if (!profile || profile->spans.size() != std::size_t(slices)) state.SkipWithError("not read");
  }
  count(state, trace.size());
}

void write(benchmark::State& state, Form form) {
  const Profile* profiles[] = {&profile_of(form)};
  std::uint64_t bytes = 0;
  for (auto _ : state) {
    bytes = write_trace(profiles, [](std::string_view piece) {
              benchmark::DoNotOptimize(piece.data());
            }).bytes;
  }
  count(state, bytes);
}

#define NPUSCOPE_FORM(what, form) \
  BENCHMARK_CAPTURE(what, form, form)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()

NPUSCOPE_FORM(walk, names);
NPUSCOPE_FORM(read, names);
NPUSCOPE_FORM(write, names);
NPUSCOPE_FORM(walk, arguments);
NPUSCOPE_FORM(read, arguments);
NPUSCOPE_FORM(write, arguments);
NPUSCOPE_FORM(walk, plain);
NPUSCOPE_FORM(read, plain);

}  // namespace
}  // namespace npuscope::perfetto
