#include "cli/compared_sides.hpp"

#include "npuscope/base/progress.hpp"

namespace npuscope::cli {

Result<RunSide> open_side(ProfileOptions options, const std::vector<std::string>& files) {
  options.files = files;
  options.takes_snapshots = true;
  options.joins_runs = false;  // each run is a sample, and says itself whether it is cold
  auto selected = open_selected(options);
  if (!selected) return tl::unexpected(selected.error());
  return RunSide{profiles_of(std::move(selected->parts)), std::move(selected->notes)};
}

void add_side_options(Command& command, SideFiles& files) {
  command.flag("--a", files.a, "the runs of A, each a file or folder");
  command.flag("--b", files.b, "the runs of B");
  command.flag("--graph", files.graph,
               "compare runs of this graph, where the files are of several");
}

Status check_sides(const SideFiles& sides, const std::vector<std::string>& files) {
  if (sides.a.empty() != sides.b.empty()) {
    return usage_error("{} has no other side; give both --a and --b",
                       sides.a.empty() ? "--b" : "--a");
  }
  if (sides.a.empty() || files.empty()) return {};
  return usage_error("{}: is it of A or of B? name files behind --a and --b only", files.front());
}

Result<std::unique_ptr<ComparedSides>> compare_sides(const ProfileOptions& options,
                                                     const SideFiles& files) {
  auto made = std::make_unique<ComparedSides>();
  auto side_a = open_side(options, files.a);
  if (!side_a) return tl::unexpected(side_a.error());
  made->a = std::move(*side_a);
  auto side_b = open_side(options, files.b);
  if (!side_b) return tl::unexpected(side_b.error());
  made->b = std::move(*side_b);
  const auto runs = report::runs_of_sides(made->a.profiles, made->b.profiles, files.graph);
  if (!runs) return tl::unexpected(runs.error());
  const BusySign busy("analysing");
  auto compared = report::compare_runs(runs->a, runs->b);
  if (!compared) return tl::unexpected(compared.error());
  made->compared = std::move(*compared);
  made->compared->diff.selection = selection_text(options.selection);
  made->notes = made->a.notes;
  made->notes.insert(made->notes.end(), made->b.notes.begin(), made->b.notes.end());
  return made;
}

}  // namespace npuscope::cli
