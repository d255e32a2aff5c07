// Furiosa: the schedule that its compiler estimates.
#include "formats/furiosa/schedule.hpp"
#include "formats/open_table.hpp"

namespace npuscope {

std::optional<FormatKind> recognise_furiosa(const Candidate& candidate) {
  if (!furiosa::looks_like_schedule(candidate.head)) return std::nullopt;
  return FormatKind{0};
}

void open_furiosa(std::span<const Input> inputs, OpenRun& run) {
  for (const Input& input : inputs) {
    auto source = open_byte_source(input.path, run.options().source);
    if (!source) {
      run.fail(input, source.error());
      continue;
    }
    auto profile = furiosa::read_schedule(**source);
    if (!profile) {
      run.fail(input, profile.error());
      continue;
    }
    run.add(input.order, std::move(*profile));
  }
}

}  // namespace npuscope
