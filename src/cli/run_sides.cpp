#include "cli/run_sides.hpp"

#include <algorithm>

#include "analysis/profile_content.hpp"

namespace npuscope::cli {

Result<RunSide> open_side(ProfileOptions options, const std::vector<std::string>& files) {
  options.files = files;
  options.takes_snapshots = true;
  auto selected = open_selected(options);
  if (!selected) return tl::unexpected(selected.error());
  return RunSide{profiles_of(std::move(selected->parts)), std::move(selected->notes)};
}

std::vector<const Profile*> chosen_runs(const RunSide& side,
                                        const std::vector<std::size_t>& chosen) {
  std::vector<const Profile*> runs;
  for (const std::size_t i : chosen) runs.push_back(&side.profiles[i]);
  return runs;
}

std::vector<const Profile*> beside_runs(const RunSide& side,
                                        const std::vector<std::size_t>& chosen) {
  std::vector<const Profile*> others;
  const std::string& graph = side.profiles[chosen.front()].provenance.graph;
  for (std::size_t i = 0; i < side.profiles.size(); ++i) {
    const Profile& profile = side.profiles[i];
    const std::string& of = profile.provenance.graph;
    const bool is_chosen = std::find(chosen.begin(), chosen.end(), i) != chosen.end();
    const bool is_same_graph = of.empty() || graph.empty() || of == graph;
    if (is_chosen || !is_same_graph) continue;
    if (analysis::content_of(profile).is_of_calls) others.push_back(&profile);
  }
  return others;
}

}  // namespace npuscope::cli
