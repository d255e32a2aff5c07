#include "large_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace npuscope::bench {
namespace {

constexpr std::uint32_t cores = 16, hvx_threads = 4, units_per_core = hvx_threads + 2;
constexpr std::uint32_t op_count = 10'000;

UnitId add_unit(Profile& profile, std::uint32_t core, Engine engine, const std::string& name,
                UnitId parent) {
  Unit unit;
  unit.core = core;
  unit.engine = engine;
  unit.name = profile.strings.intern(name);
  unit.parent = parent;
  profile.units.push_back(unit);
  return UnitId(std::uint32_t(profile.units.size() - 1));
}

std::vector<UnitId> add_core(Profile& profile, std::uint32_t core) {
  const UnitId parent =
      add_unit(profile, core, Engine::core, fmt::format("core {}", core), UnitId::none);
  std::vector<UnitId> units;
  for (std::uint32_t thread = 0; thread < hvx_threads; ++thread) {
    units.push_back(add_unit(profile, core, Engine::hvx, fmt::format("HVX {}", thread), parent));
  }
  units.push_back(add_unit(profile, core, Engine::hmx, "HMX", parent));
  units.push_back(add_unit(profile, core, Engine::dma, "DMA", parent));
  return units;
}

void add_ops(Profile& profile) {
  constexpr const char* kinds[] = {"MatMul", "Add", "Softmax", "LayerNorm", "Transpose", "Copy"};
  for (std::uint32_t i = 0; i < op_count; ++i) {
    const char* kind = kinds[i % std::size(kinds)];
    Op op;
    op.name = profile.strings.intern(fmt::format("/layers.{}/{}_{}", i / 100, kind, i));
    op.kind = profile.strings.intern(kind);
    op.node = op.name;
    op.core = i % cores;
    op.id = i + 1;
    profile.ops.push_back(op);
    for (const std::uint32_t distance : {1u, cores}) {
      if (i >= distance) profile.edges.push_back({OpId(i - distance), OpId(i), EdgeKind::data});
    }
  }
}

}  // namespace

Profile large_profile(std::size_t spans) {
  Profile profile;
  profile.provenance.files = {"large"};
  profile.clocks.push_back(
      {profile.strings.intern("cycles"), ClockKind::unit_cycles, Hertz{1.4e9}, true, 0});
  std::vector<UnitId> units;
  for (std::uint32_t core = 0; core < cores; ++core) {
    for (const UnitId unit : add_core(profile, core)) units.push_back(unit);
  }
  add_ops(profile);
  MeasureColumn bytes;
  bytes.what = profile.strings.intern("ddr read bytes");
  bytes.values.reserve(spans);  // what it outgrew would be memory that questions take
  std::mt19937_64 random(1);
  std::vector<std::int64_t> free_at(units.size());
  Spans& rows = profile.spans;
  rows.reserve(spans);
  for (std::size_t i = 0; i < spans; ++i) {
    const auto op = std::uint32_t(i % op_count);
    const std::size_t unit = op % cores * units_per_core + random() % units_per_core;
    const auto gap = std::int64_t(random() % 50), duration = std::int64_t(20 + random() % 2'000);
    rows.unit.push_back(units[unit]);
    rows.op.push_back(OpId(op));
    rows.kind.push_back(random() % 8 == 0 ? SpanKind::sync : SpanKind::op);
    rows.start.push_back(free_at[unit] + gap);
    rows.duration.push_back(duration);
    rows.instance.push_back(std::uint32_t(i / op_count));
    bytes.values.push_back(std::int64_t(random() % 65'536));
    free_at[unit] += gap + duration;
  }
  rows.measures.push_back(std::move(bytes));
  profile.provenance.inferences = std::uint32_t((spans + op_count - 1) / op_count);
  return profile;
}

Profile large_run(std::size_t spans) {
  Profile made = large_profile(spans);
  made.spans.instance.clear();
  return made;
}

}  // namespace npuscope::bench
