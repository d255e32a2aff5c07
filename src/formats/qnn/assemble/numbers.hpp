// The numbers that a QNN profile has under npuscope's own names, and what each is. Labels of the
// viewer's text are the vendor's: put_viewer.cpp.
#pragma once

#include <array>

#include "profile/shared_numbers.hpp"

namespace npuscope::qnn::number {

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
