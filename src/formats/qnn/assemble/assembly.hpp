// A set's profile while it is being made: the artifacts are put in one after the other, the op
// trace (or the instances of QHAS) first, and find each other's ops by id.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/qnn/read/artifact.hpp"
#include "npuscope/profile/profile.hpp"
#include "profile/shape_texts.hpp"

namespace npuscope::qnn {

struct Assembly {
  Profile profile;
  ClockId cycles{};  // PCYCLE
  UnitId device = UnitId::none;
  std::vector<UnitId> cores;  // by number; none where there is no such core
  std::map<std::pair<std::uint32_t, std::int64_t>, UnitId> lanes;  // by core and tid
  // Ops by core and id, tensors by id.
  std::vector<std::unordered_map<std::uint64_t, OpId>> ops;
  std::unordered_map<std::uint64_t, std::uint32_t> tensors;
  std::unordered_map<std::uint32_t, ShapeId> shape_of_text;  // by StringId
  CountedNotes losses;                                       // of the set as a whole
  std::optional<ClockId> microsecond_clock, timer_clock;

  StringId intern(std::string_view text) { return profile.strings.intern(text); }
  ClockId microseconds();  // clocks that come to be when they are needed
  ClockId timer();
  ClockId add_clock(std::string_view name, ClockKind kind, double hertz);
  UnitId core_unit(std::uint32_t core);
  UnitId lane_unit(std::uint32_t core, std::int64_t tid, std::string_view type, Engine engine);
  std::optional<OpId> find_op(std::uint32_t core, std::uint64_t id) const;
  // On whichever core.
  std::optional<OpId> find_op(std::uint64_t id) const;
  // The tensor of that id, made where it is new.
  Tensor& tensor(std::uint64_t id);
  void add_use(std::uint64_t tensor_id, OpId consumer);
  // Of an op or a tensor, from "[1,8,32,256]" or from the numbers of it.
  void set_shape(auto& row, StringId text);
  void set_shape(auto& row, std::span<const std::int64_t> dims);
  // Of a tensor of that shape and such elements; 0 where a part is unknown or absurd.
  Bytes bytes_of(ShapeId shape, StringId type) const;
};

// Where an op puts its output: "VTCM", "DDR", or empty where it writes nothing.
std::string_view written_memory(const Traffic& traffic);

// `missing` where the cycles per packet are not known (0).
std::int64_t packets_of(std::int64_t cycles, double cycles_per_packet);

// Takes the trace's events apart. To come first, when the profile has the trace's strings.
void put_op_trace(Assembly& assembly, OpTrace& trace);
// Spans of its instances where no op trace has made any; what it says about spans that are there.
void put_qhas(Assembly& assembly, const Qhas& qhas);
void put_graph(Assembly& assembly, const HtpGraph& graph);
void put_run_trace(Assembly& assembly, const RunTrace& trace);
// To come last: where nothing else has a timeline, its phases make one.
void put_viewer(Assembly& assembly, const ViewerOutput& output);

// Edges and uses of what `inputs` names, each once; ids of ops become edges.
void put_inputs(Assembly& assembly, OpId consumer, std::uint32_t core,
                std::vector<std::uint64_t> inputs);

// The cycles in which each span owns the time, by the rule of owned_time.hpp; the column of them.
Column<std::int64_t> dominant_path_of_spans(const Profile& profile);
void put_dominant_path(Assembly& assembly);

Profile assemble(ArtifactSet&& set);

void Assembly::set_shape(auto& row, StringId text) {
  const auto [place, is_new] = shape_of_text.try_emplace(std::uint32_t(text));
  if (is_new) place->second = shape_in(profile.text(text), profile.shapes);
  row.shape = text;
  row.extents = place->second;
}

void Assembly::set_shape(auto& row, std::span<const std::int64_t> dims) {
  if (dims.empty()) return;
  row.shape = intern(fmt::format("[{}]", fmt::join(dims, ",")));
  row.extents = shape_of(dims, profile.shapes);
}

// Tries the identities that a set must obey.
std::vector<Check> check_set(const ArtifactSet& set, const Profile& profile);

}  // namespace npuscope::qnn
