// Tables of layers that tables/*.toml describe.
#include "formats/open_table.hpp"
#include "formats/tables/read_table.hpp"

namespace npuscope {

std::optional<FormatKind> recognise_described_table(const Candidate& candidate) {
  const auto place = tables::recognise_table(candidate.head);
  return place ? std::optional(FormatKind(*place)) : std::nullopt;
}

void open_described_tables(std::span<const Input> inputs, OpenRun& run) {
  for (const Input& input : inputs) {
    auto source = open_byte_source(input.path, run.options().source);
    if (!source) {
      run.fail(input, source.error());
      continue;
    }
    auto profiles = tables::read_table(**source, tables::builtin_descriptions()[input.kind]);
    if (!profiles) {
      run.fail(input, profiles.error());
      continue;
    }
    for (Profile& profile : *profiles) run.add(input.order, std::move(profile));
  }
}

}  // namespace npuscope
