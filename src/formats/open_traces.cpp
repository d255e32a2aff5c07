// Traces of formats that many tools write: Perfetto's protobuf and Chrome's JSON. What kind of
// hardware the latter is of, its events decide.
#include "formats/open_table.hpp"
#include "npuscope/formats/perfetto/read.hpp"

namespace npuscope {

std::optional<FormatKind> recognise_perfetto(const Candidate& candidate) {
  if (!perfetto::looks_like(candidate.head)) return std::nullopt;
  return FormatKind{0};
}

void open_perfetto(std::span<const Input> inputs, OpenRun& run) {
  for (const Input& input : inputs) {
    auto source = open_byte_source(input.path, run.options().source);
    if (!source) {
      run.fail(input, source.error());
      continue;
    }
    perfetto::ReadOptions options;
    options.progress = run.options().progress;
    options.decompressed_limit = run.options().source.decompressed_limit;
    auto profile = perfetto::read_profile(**source, options);
    if (!profile) {
      run.fail(input, profile.error());
      continue;
    }
    run.add(input.order, std::move(*profile));
  }
}

}  // namespace npuscope
