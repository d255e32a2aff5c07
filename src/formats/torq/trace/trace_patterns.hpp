// What each run of an action draws in a trace: the same slices every time, moved to when it ran.
//
//   program 1 of dispatch 0, started by action 3
//     NSS Programs             Nss Program | nss_program_1 | …      from its start to its end
//     DMA In Used              the same
//     NSS CFG Tasks (Compile)  Nss Cfg | Task: 2 | @L3C10           from 0 to 96 ns after its start
//
// So what slices say is worked out once a pattern, and a log of any length adds nothing to it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/torq/annotate/annotate.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::torq {

// "location" and what it is, of each annotation.
using SliceAnnotations = std::vector<std::pair<std::string_view, std::string>>;

// Rows of a profile's spans that say what slices have in common.
class SliceRows {
 public:
  explicit SliceRows(Profile& profile) : profile_(profile) {}
  // Annotations without text are left out.
  std::uint32_t add(std::string_view name, const SliceAnnotations& annotations = {},
                    std::string_view category = {});

 private:
  Profile& profile_;
  std::map<std::pair<std::string, std::string>, OpId> ops_;
  std::map<std::vector<StringId>, std::uint32_t> shapes_;
};

struct TraceUnits {
  // Stretched: estimates are drawn as long as runs are.
  TraceUnits(Profile& profile, bool is_stretched);

  UnitId hal{}, programs{}, host_programs{}, host_copy{}, calls{};
  UnitId program_estimates{}, task_estimates{};
  std::array<UnitId, npu_unit_count> estimates{}, used{};
};

// In nanoseconds since the run began; as long as the run where that is all that is known.
struct PatternSlice {
  std::uint32_t row = 0;
  bool is_whole = true;
  std::int64_t begin = 0, end = 0;
};

struct TracePattern {
  struct Call {
    std::size_t cell = 0;  // among the actions of the dispatch
    std::string name{};
    std::optional<std::uint32_t> row{};  // since one was drawn
  };
  struct OnUnit {
    UnitId unit{};
    std::vector<PatternSlice> slices{};  // by begin, the longer first
  };

  ProgramCells cells;
  std::vector<Call> calls{};  // of the NSS: its start and its wait, which arrows lead from and to
  std::vector<OnUnit> on{};
  std::uint64_t slices = 0;   // calls left out
  std::int64_t earliest = 0;  // begin of any, since the run began
  std::vector<std::string> operators{};

  const std::vector<PatternSlice>* of(UnitId unit) const;
};

// Whose begin and whose end a run of the action has; none of an action that draws nothing: it is
// no copy and no start of a program with a known end.
std::optional<ProgramCells> drawn_cells(const Annotation& annotation, std::uint32_t dispatch,
                                        std::size_t action);
TracePattern make_pattern(const Annotation& annotation, std::uint32_t dispatch, std::size_t action,
                          ProgramCells cells, const TraceUnits& units, SliceRows& rows, double mhz);

}  // namespace npuscope::torq
