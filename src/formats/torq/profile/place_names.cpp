#include "formats/torq/profile/place_names.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/text.hpp"
#include "formats/torq/fields.hpp"

namespace npuscope::torq {
namespace {

constexpr std::size_t max_kernels_named = 3;

// "transpose_7 + avg_pool2d_8 + 2 more".
std::string named_kernels(const std::vector<std::string>& kernels) {
  std::string text;
  for (std::size_t i = 0; i < std::min(max_kernels_named, kernels.size()); ++i) {
    text += (i > 0 ? " + " : "") + kernels[i];
  }
  if (kernels.size() <= max_kernels_named) return text;
  return text + fmt::format(" + {} more", kernels.size() - max_kernels_named);
}

// Places are counted in the order of the source: schedules of one model have different orders.
struct InSource {
  std::string file;
  std::uint32_t line = 0, column = 0;
  auto rank() const { return std::tie(file, line, column); }
};

}  // namespace

bool name_by_operators(SourceFiles& sources, const std::vector<FileLocation>& places,
                       PlaceName& name) {
  const std::vector<std::string> operators = sources.operators_at(places);
  if (operators.empty()) return false;
  name.label = joined(operators, " ");
  if (operators.size() == 1) name.kind = kind_of_operator(operators.front());
  return true;
}

std::map<std::string, PlaceName> names_of_places(const DebugInfo& debug) {
  std::map<std::string, PlaceName> names;
  std::set<std::string> several;
  for (const DispatchInfo& dispatch : debug.dispatches) {
    const PlaceNames of_dispatch(dispatch, &debug);
    for (const auto& [place, name] : of_dispatch.all()) {
      if (std::get<bool>(place)) continue;
      const std::string brief = dispatch.locations.brief(std::get<LocationId>(place));
      const auto [known, is_new] = names.try_emplace(brief, name);
      if (!is_new && known->second.label != name.label) several.insert(brief);
    }
  }
  for (const std::string& brief : several) names.erase(brief);
  return names;
}

std::string_view kernel_without_number(std::string_view kernel) {
  const auto underscore = kernel.rfind('_');
  if (underscore == kernel.npos || underscore == 0) return kernel;
  const std::string_view number = kernel.substr(underscore + 1);
  const bool is_number = !number.empty() && std::all_of(number.begin(), number.end(), is_digit);
  return is_number ? kernel.substr(0, underscore) : kernel;
}

std::string_view kind_of_operator(std::string_view name) {
  name = name.substr(0, name.rfind("@L"));
  return name.substr(name.find('.') + 1);
}

PlaceNames::Place PlaceNames::place_of(const UnitWork& work) {
  if (work.fetches_code) return {LocationId::unknown, "", true};
  if (work.location != LocationId::unknown) return {work.location, "", false};
  const bool is_nameless = work.kernel.empty() && !is_transfer(work.unit);
  return {work.location, is_nameless ? name_of(work.unit) : work.kernel, false};
}

PlaceNames::PlaceNames(const DispatchInfo& dispatch, const DebugInfo* debug) : dispatch_(dispatch) {
  std::map<Place, std::vector<std::string>> kernels;
  std::set<Place> computing;  // also with kernels that have no names
  for (const UnitWork& work : dispatch.work) {
    auto& of_place = kernels[place_of(work)];
    if (!is_transfer(work.unit)) computing.insert(place_of(work));
    if (!work.kernel.empty()) of_place.push_back(work.kernel);
    if (work.unit == NpuUnit::css) of_place.emplace_back(name_of(work.unit));
  }
  std::vector<std::pair<InSource, Place>> in_order;
  for (auto& [place, all] : kernels) {
    all = distinct(all);
    PlaceName& name = names_[place];
    if (std::get<bool>(place)) {
      name.label = name.identity = program_code;
      continue;
    }
    const bool computes = computing.contains(place);
    name.has_kernels = computes;
    const LocationId location = std::get<LocationId>(place);
    const std::string brief = dispatch.locations.brief(location);
    SourceFiles* sources = debug == nullptr ? nullptr : debug->sources.get();
    if (sources != nullptr &&
        name_by_operators(*sources, dispatch.locations.files(location), name)) {
    } else if (all.empty() && location == LocationId::unknown) {
      name.label = computes ? "compute, place not known" : "transfers, place not known";
    } else if (all.empty()) {
      name.label = brief;
    } else if (location == LocationId::unknown) {
      name.label = named_kernels(all);
    } else {
      name.label = named_kernels(all) + " " + brief;
    }
    const bool has_css = std::find(all.begin(), all.end(), name_of(NpuUnit::css)) != all.end();
    name.is_unnamed = has_css && name.kind.empty();
    const auto files = dispatch.locations.files(location, true);
    const InSource at =
        files.empty() ? InSource{} : InSource{files[0].file, files[0].line, files[0].column};
    in_order.emplace_back(at, place);
  }
  std::stable_sort(in_order.begin(), in_order.end(),
                   [](const auto& a, const auto& b) { return a.first.rank() < b.first.rank(); });
  std::map<std::string, std::size_t> places_of_kind;
  for (const auto& [at, place] : in_order) {
    std::set<std::string> kinds;
    for (const std::string& kernel : kernels[place]) {
      kinds.emplace(kernel_without_number(kernel));
    }
    std::string identity = joined({kinds.begin(), kinds.end()}, "+");
    if (identity.empty()) identity = computing.contains(place) ? "compute" : "transfers";
    if (at.line == 0 && !names_[place].has_kernels) identity += " of no place";
    const std::size_t number = places_of_kind[identity]++;
    names_[place].identity = fmt::format("{} {}", identity, number);
  }
}

const PlaceName& PlaceNames::of(const UnitWork& work) const { return names_.at(place_of(work)); }

std::vector<const PlaceName*> PlaceNames::of(const ProgramRun& program) const {
  std::vector<const PlaceName*> names;
  std::set<const PlaceName*> seen;
  const auto add = [&](std::uint32_t work) {
    const PlaceName* name = &of(dispatch_.work[work]);
    if (seen.insert(name).second) names.push_back(name);
  };
  for (const std::uint32_t work : program.work) add(work);
  for (const std::uint32_t work : program.unfinished_work) add(work);
  return names;
}

}  // namespace npuscope::torq
