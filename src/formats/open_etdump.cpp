// ETDumps of ExecuTorch's runtime.
#include "formats/etdump/read.hpp"
#include "formats/open_table.hpp"

namespace npuscope {

std::optional<FormatKind> recognise_etdump(const Candidate& candidate) {
  if (!etdump::looks_like(candidate.head)) return std::nullopt;
  return FormatKind{0};
}

void open_etdump(std::span<const Input> inputs, OpenRun& run) {
  constexpr std::uint64_t max_bytes = std::uint64_t{1} << 30;
  for (const Input& input : inputs) {
    auto source = open_byte_source(input.path, run.options().source);
    const auto text = source ? read_all(**source, max_bytes)
                             : Result<std::string>(tl::unexpected(source.error()));
    auto profile = text ? etdump::read_profile({input.path.string(), *text})
                        : Result<Profile>(tl::unexpected(text.error()));
    if (!profile) {
      run.fail(input, profile.error());
      continue;
    }
    run.add(input.order, std::move(*profile));
  }
}

}  // namespace npuscope
