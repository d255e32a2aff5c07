// XSpaces of XLA's profiler: those of one folder are the hosts of one run.
#include <map>

#include "formats/open_table.hpp"
#include "formats/xplane/read.hpp"

namespace npuscope {
namespace {

constexpr std::uint64_t max_bytes = std::uint64_t{4} << 30;

void open_run(const std::vector<const Input*>& inputs, OpenRun& run) {
  std::vector<std::string> texts;
  std::vector<std::string> names;
  for (const Input* input : inputs) {
    auto source = open_byte_source(input->path, run.options().source);
    auto text = source ? read_all(**source, max_bytes)
                       : Result<std::string>(tl::unexpected(source.error()));
    if (!text) {
      run.fail(*input, text.error());
      continue;
    }
    texts.push_back(std::move(*text));
    names.push_back(input->path.string());
  }
  if (texts.empty()) return;
  std::vector<xplane::SpaceFile> files;
  for (std::size_t i = 0; i < texts.size(); ++i) files.push_back({names[i], texts[i]});
  auto profile = xplane::read_profile(files, run.options().roles);
  if (!profile) return run.fail(*inputs.front(), profile.error());
  run.add(inputs.front()->order, std::move(*profile));
}

}  // namespace

std::optional<FormatKind> recognise_xplane(const Candidate& candidate) {
  if (!xplane::looks_like(candidate.head)) return std::nullopt;
  return FormatKind{0};
}

void open_xplane(std::span<const Input> inputs, OpenRun& run) {
  std::map<std::string, std::vector<const Input*>> runs;  // by folder
  for (const Input& input : inputs) {
    runs[input.path.parent_path().string()].push_back(&input);
  }
  for (const auto& [folder, of_run] : runs) open_run(of_run, run);
}

}  // namespace npuscope
