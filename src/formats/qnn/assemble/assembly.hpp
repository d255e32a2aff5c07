// A set's profile while it is being made: the artifacts are put in one after the other, the op
// trace (or the instances of QHAS) first, and find each other's ops by id.
#pragma once

#include <fmt/format.h>
#include <array>
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
#include "profile/shared_numbers.hpp"

namespace npuscope::qnn::number {

// The numbers that a QNN profile has under npuscope's own names, and what each is. Labels of the
// viewer's text are the vendor's: add_viewer.cpp.

// In the order of Traffic::bytes.
inline constexpr std::array<NamedNumber, 4> traffic{ddr_read_bytes, ddr_write_bytes,
                                                    vtcm_read_bytes, vtcm_write_bytes};

// of a node, an op or a span
inline constexpr NamedNumber cycles{"cycles", MeasureKind::work};
inline constexpr NamedNumber node_cycles{"node cycles", MeasureKind::work, NumberRole::node_cycles};
inline constexpr NamedNumber dominant_path{"dominant path", MeasureKind::dominant_path,
                                           NumberRole::dominant_path};
inline constexpr NamedNumber packets{"packets", NumberQuantity::count, NumberRole::packets};
inline constexpr NamedNumber htp_ops{"HTP ops", NumberQuantity::count};

// of the run, or of a core where there are several
inline constexpr NamedNumber graph_wall{"graph wall", MeasureKind::wall, NumberRole::graph_wall};
inline constexpr NamedNumber estimated_wall{"estimate.cycles", MeasureKind::wall,
                                            NumberRole::estimated_wall};
inline constexpr NamedNumber dsp_execute{"QNN DSP Execute, rounded down", MeasureKind::wall,
                                         NumberRole::dsp_execute};
inline constexpr NamedNumber stated_rate{"inferences per second", NumberQuantity::rate,
                                         NumberRole::run_rate};
inline constexpr NamedNumber kernel_dominant_path{"dominant path", MeasureKind::dominant_path,
                                                  NumberRole::kernel_dominant_path};
inline constexpr NamedNumber graph_execute{"Graph Execute, rounded down", MeasureKind::wall,
                                           NumberRole::graph_execute};
inline constexpr NamedNumber dispatch{"QNN (execute) beyond QNN DSP Execute", MeasureKind::wall};
inline constexpr NamedNumber all_graphs{"QNN (execute) time, all graphs", MeasureKind::wall,
                                        NumberRole::all_graphs_execute};
inline constexpr NamedNumber all_lanes{"cycles of all lanes", MeasureKind::work};
inline constexpr NamedNumber busiest_lane{"busiest lane", MeasureKind::domain};
inline constexpr NamedNumber any_lane_busy{"cycles with any lane busy", MeasureKind::active,
                                           NumberRole::busy};
inline constexpr NamedNumber peak_vtcm =
    NamedNumber{"peak VTCM bytes", NumberQuantity::bytes, NumberRole::vtcm_peak}.not_additive();
inline constexpr NamedNumber vtcm_size =
    NamedNumber{"VTCM size in bytes", NumberQuantity::bytes, NumberRole::vtcm_size}.not_additive();
inline constexpr NamedNumber hvx_threads =
    NamedNumber{"HVX threads", NumberQuantity::count, NumberRole::hvx_threads}.not_additive();
inline constexpr NamedNumber ddr_peak{"peak DDR rate", NumberQuantity::rate,
                                      NumberRole::ddr_peak_rate};
inline constexpr NamedNumber wall_lower =
    NamedNumber{"estimate.cycles_lower", MeasureKind::wall, NumberRole::wall_lower};
inline constexpr NamedNumber wall_upper =
    NamedNumber{"estimate.cycles_upper", MeasureKind::wall, NumberRole::wall_upper};
inline constexpr NamedNumber estimated_time{"estimated time, rounded down", MeasureKind::wall,
                                            NumberRole::wall_rounded};
// Bytes between DDR and VTCM, by why they are moved.
inline constexpr NamedNumber input_fill{"DDR read bytes of inputs and weights",
                                        NumberQuantity::bytes};
inline constexpr NamedNumber fill{"DDR read bytes of fills", NumberQuantity::bytes};
inline constexpr NamedNumber spill{"DDR write bytes of spills", NumberQuantity::bytes};
inline constexpr NamedNumber output_spill{"DDR write bytes of outputs, padded",
                                          NumberQuantity::bytes};
inline constexpr NamedNumber vtcm_end =
    NamedNumber{"highest VTCM byte in use", NumberQuantity::bytes}.not_additive();
inline constexpr NamedNumber ops_without_estimate{"ops without an estimate", NumberQuantity::count,
                                                  NumberRole::ops_without_estimate};
inline constexpr NamedNumber model_nodes =
    NamedNumber{"nodes of the model", NumberQuantity::count, NumberRole::model_nodes}
        .not_additive();
inline constexpr NamedNumber unique_qnn_ops{"unique QNN ops", NumberQuantity::count};
inline constexpr NamedNumber qnn_nodes{"QNN nodes", NumberQuantity::count};
inline constexpr NamedNumber unique_htp_ops{"unique HTP ops", NumberQuantity::count};
inline constexpr NamedNumber htp_nodes{"HTP nodes", NumberQuantity::count};

// of a lane
inline constexpr NamedNumber lane_busy{"busy, waits included", MeasureKind::unit_busy,
                                       NumberRole::busy};
inline constexpr NamedNumber lane_utilization{"utilization percent, waits included",
                                              NumberQuantity::share,
                                              NumberRole::utilization_with_waits};
inline constexpr NamedNumber lane_extent{"first start to last end", MeasureKind::wall};

}  // namespace npuscope::qnn::number

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
void add_op_trace(Assembly& assembly, OpTrace& trace);
// Spans of its instances where no op trace has made any; what it says about spans that are there.
void add_qhas(Assembly& assembly, const Qhas& qhas);
// The trace's strings must be the profile's.
void add_estimate(Assembly& assembly, const Estimate& estimate);
void add_estimate_rows(Assembly& assembly, const EstimateRows& rows);
void add_graph(Assembly& assembly, const HtpGraph& graph);
// After its graph.
void add_schematic(Assembly& assembly, const Schematic& schematic);
// Types of ops where nothing else says them, and the nodes that another processor runs.
void add_framework_trace(Assembly& assembly, const FrameworkTrace& trace, std::string_view graph);
void add_run_trace(Assembly& assembly, const RunTrace& trace);
// To come last: where nothing else has a timeline, its phases make one.
void add_viewer(Assembly& assembly, const ViewerOutput& output);

// Edges and uses of what `inputs` names, each once; ids of ops become edges.
void add_inputs(Assembly& assembly, OpId consumer, std::uint32_t core,
                std::vector<std::uint64_t> inputs);

// The cycles in which each span owns the time, by the rule of owned_time.hpp; the column of them.
Column<std::int64_t> dominant_path_of_spans(const Profile& profile);
void add_dominant_path(Assembly& assembly);

// As its files name it; empty where none does.
std::string graph_of(const ArtifactSet& set);

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
