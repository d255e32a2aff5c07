// llama.cpp's Hexagon backend: its profile log, and what llama.cpp's programs print of a run.
#include "formats/ggml/log.hpp"
#include "formats/ggml/profile.hpp"
#include "formats/open_table.hpp"

namespace npuscope {

std::optional<FormatKind> recognise_ggml(const Candidate& candidate) {
  if (!ggml::looks_like_log(candidate.head)) return std::nullopt;
  return FormatKind{0};
}

void open_ggml(std::span<const Input> inputs, OpenRun& run) {
  for (const Input& input : inputs) {
    auto source = open_byte_source(input.path, run.options().source);
    if (!source) {
      run.fail(input, source.error());
      continue;
    }
    auto log = ggml::read_log(**source, run.options().progress);
    if (!log) {
      run.fail(input, log.error());
      continue;
    }
    for (Profile& profile : ggml::make_profiles(*log)) run.add(input.order, std::move(profile));
  }
}

}  // namespace npuscope
