#include "cli/run_sides.hpp"

namespace npuscope::cli {

Result<RunSide> open_side(ProfileOptions options, const std::vector<std::string>& files) {
  options.files = files;
  options.takes_snapshots = true;
  options.joins_runs = false;  // each run is a sample, and says itself whether it is cold
  auto selected = open_selected(options);
  if (!selected) return tl::unexpected(selected.error());
  return RunSide{profiles_of(std::move(selected->parts)), std::move(selected->notes)};
}

}  // namespace npuscope::cli
