// IREE's profiles, exported as JSON lines.
#include "formats/ireeperf/read.hpp"
#include "formats/open_table.hpp"

namespace npuscope {

std::optional<FormatKind> recognise_ireeperf(const Candidate& candidate) {
  if (!ireeperf::looks_like(candidate.head)) return std::nullopt;
  return FormatKind{0};
}

void open_ireeperf(std::span<const Input> inputs, OpenRun& run) {
  for (const Input& input : inputs) {
    auto source = open_byte_source(input.path, run.options().source);
    auto profile = source ? ireeperf::read_profile(**source, run.options().progress)
                          : Result<Profile>(tl::unexpected(source.error()));
    if (!profile) {
      run.fail(input, profile.error());
      continue;
    }
    run.add(input.order, std::move(*profile));
  }
}

}  // namespace npuscope
