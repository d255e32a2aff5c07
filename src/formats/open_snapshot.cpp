// Snapshots: what `npuscope snapshot` keeps of runs.
#include "formats/open_table.hpp"
#include "formats/snapshot/snapshot.hpp"

namespace npuscope {

std::optional<FormatKind> recognise_snapshot(const Candidate& candidate) {
  if (!snapshot::looks_like(candidate.head)) return std::nullopt;
  return FormatKind{0};
}

void open_snapshots(std::span<const Input> inputs, OpenRun& run) {
  for (const Input& input : inputs) {
    auto source = open_byte_source(input.path, run.options().source);
    const auto text = source ? read_all(**source, snapshot::max_bytes)
                             : Result<std::string>(tl::unexpected(source.error()));
    auto profiles = text ? snapshot::read_snapshot(*text, input.path.string())
                         : Result<std::vector<Profile>>(tl::unexpected(text.error()));
    if (!profiles) {
      run.fail(input, profiles.error());
      continue;
    }
    for (Profile& profile : *profiles) run.add(input.order, std::move(profile));
  }
}

}  // namespace npuscope
