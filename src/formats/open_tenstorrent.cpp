// Tenstorrent's table of ops.
#include "formats/open_table.hpp"
#include "formats/tenstorrent/ops_perf.hpp"

namespace npuscope {

std::optional<FormatKind> recognise_tenstorrent(const Candidate& candidate) {
  if (!tenstorrent::looks_like_ops_perf(candidate.head)) return std::nullopt;
  return FormatKind{0};
}

void open_tenstorrent(std::span<const Input> inputs, OpenRun& run) {
  for (const Input& input : inputs) {
    auto source = open_byte_source(input.path, run.options().source);
    auto profile = source ? tenstorrent::read_ops_perf(**source)
                          : Result<Profile>(tl::unexpected(source.error()));
    if (profile) {
      run.add(input.order, std::move(*profile));
    } else {
      run.fail(input, profile.error());
    }
  }
}

}  // namespace npuscope
