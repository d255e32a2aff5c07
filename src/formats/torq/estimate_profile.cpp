// The compiler's estimates in debug information as a profile: the same picture as the compile-time
// timeline, of every dispatch, with kernels and programs.
#include <map>
#include <tuple>

#include "formats/torq/rows.hpp"
#include "npuscope/formats/torq/debug_info.hpp"

namespace npuscope::torq {
namespace {

class EstimateProfile {
 public:
  explicit EstimateProfile(const DispatchInfo& dispatch) : dispatch_(dispatch) {}

  std::optional<Profile> run() {
    profile_.provenance.format = "Torq debug information";
    profile_.provenance.device = "Torq";
    profile_.provenance.graph = dispatch_.name;
    profile_.provenance.files = {dispatch_.file};
    profile_.base_clock = add_clock(profile_, "NPU cycles", ClockKind::unit_cycles, Hertz{0});
    for (std::size_t unit = 0; unit < npu_unit_count; ++unit) {
      const bool computes = NpuUnit(unit) == NpuUnit::slice_0 ||
                            NpuUnit(unit) == NpuUnit::slice_1 || NpuUnit(unit) == NpuUnit::css;
      units_[unit] = add_unit(profile_, name_of(NpuUnit(unit)),
                              computes ? Engine::compute : Engine::dma, UnitId::none);
    }
    for (const UnitWork& work : dispatch_.work) add(work);
    for (const ProgramRun& program : dispatch_.programs) {
      if (!program.cycles) continue;
      const Interval at = *program.cycles;
      profile_.phases.push_back(
          {profile_.strings.intern(program.name), 0, UnitId::none, at.begin, length_of(at)});
    }
    if (profile_.spans.size() == 0) return std::nullopt;
    profile_.notes = dispatch_.notes;
    profile_.notes.push_back({Severity::info, dispatch_.file, 0,
                              "times are cycles of the compiler's cost model; host work costs none",
                              1});
    return std::move(profile_);
  }

 private:
  void add(const UnitWork& work) {
    if (!work.cycles) return;
    const auto unit = std::size_t(work.unit);
    const bool moves = profile_.units[index_of(units_[unit])].engine == Engine::dma;
    // Of the operation alone where it is known: the rest is waiting for the task that waits.
    const std::int64_t whole = length_of(*work.cycles);
    const std::int64_t alone = work.duration_cycles.value_or(whole);
    add_span(profile_, units_[unit], op_of(work), moves ? SpanKind::transfer : SpanKind::op,
             work.cycles->begin, std::max<std::int64_t>(0, std::min(alone, whole)));
  }

  OpId op_of(const UnitWork& work) {
    const std::tuple key{work.unit, work.location, work.kernel};
    const auto [place, is_new] = ops_.try_emplace(key, OpId(profile_.ops.size()));
    if (!is_new) return place->second;
    Op op;
    op.name = profile_.strings.intern(dispatch_.locations.brief(work.location));
    op.node = op.name;
    op.kind = profile_.strings.intern(work.kernel.empty() ? name_of(work.unit) : work.kernel);
    profile_.ops.push_back(op);
    return place->second;
  }

  const DispatchInfo& dispatch_;
  Profile profile_;
  std::array<UnitId, npu_unit_count> units_{};
  std::map<std::tuple<NpuUnit, LocationId, std::string>, OpId> ops_;
};

}  // namespace

std::optional<Profile> make_profile(const DispatchInfo& dispatch) {
  return EstimateProfile(dispatch).run();
}

}  // namespace npuscope::torq
