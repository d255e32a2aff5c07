// What the work of a dispatch is called: the operators of the model's source where the source is
// there, else the kernels that run for the same place of it, else the place.
//
//   PlaceNames names(dispatch, &debug);
//   names.of(work).label      "onnx.Conv@L63"; without the source "conv2d_6 @L63C11"
//   names.of(work).identity   "conv2d 2": the third place that runs a conv2d, counted from 0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "formats/torq/debug/debug_folder.hpp"

namespace npuscope::torq {

inline constexpr std::string_view program_code = "NSS program code";

struct PlaceName {
  std::string label{};
  std::string kind{};  // "Conv", of one operator; empty: several, or not known
  // The same in every compile of a model, whatever lines its source has and whether it is there.
  std::string identity{};
  bool has_kernels = false;  // it computes, and does not only move data
  bool is_unnamed =
      false;  // a program of the CSS is in it, and which operator that is nothing says
};

class PlaceNames {
 public:
  // Without `debug` no operators are looked up. Both must outlive this.
  PlaceNames(const DispatchInfo& dispatch, const DebugInfo* debug);

  const PlaceName& of(const UnitWork& work) const;
  const std::map<std::tuple<LocationId, std::string, bool>, PlaceName>& all() const {
    return names_;
  }
  // Of all work that a program does, each once; empty where it does none.
  std::vector<const PlaceName*> of(const ProgramRun& program) const;

 private:
  // Without a location by kernel; what fetches the NSS's own code is of no place.
  using Place = std::tuple<LocationId, std::string, bool>;
  static Place place_of(const UnitWork& work);

  const DispatchInfo& dispatch_;
  std::map<Place, PlaceName> names_;
};

// Those of all dispatches, by how a place is printed, "@L63C11"; a place that several dispatches
// call by different names is left out.
std::map<std::string, PlaceName> names_of_places(const DebugInfo& debug);

// Label and kind after the operators of the source that the places hold; false where there are
// none.
bool name_by_operators(SourceFiles& sources, const std::vector<FileLocation>& places,
                       PlaceName& name);

// "conv2d" of "conv2d_6".
std::string_view kernel_without_number(std::string_view kernel);

// "Conv" of "onnx.Conv@L63"; "tosa.add" and the like are kinds without their dialect too.
std::string_view kind_of_operator(std::string_view name);

}  // namespace npuscope::torq
