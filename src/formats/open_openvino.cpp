// Intel's NPU: the profile of an inference as text. As JSON it is a Chrome trace.
#include "formats/open_table.hpp"
#include "formats/openvino/profiling_text.hpp"

namespace npuscope {

std::optional<FormatKind> recognise_openvino_text(const Candidate& candidate) {
  if (!openvino::looks_like_profiling_text(candidate.head)) return std::nullopt;
  return FormatKind{0};
}

void open_openvino_texts(std::span<const Input> inputs, OpenRun& run) {
  for (const Input& input : inputs) {
    auto source = open_byte_source(input.path, run.options().source);
    if (!source) {
      run.fail(input, source.error());
      continue;
    }
    const auto runs = openvino::read_profiling_text(**source);
    if (!runs) {
      run.fail(input, runs.error());
      continue;
    }
    for (const openvino::Run& each : *runs) {
      run.add(input.order, openvino::make_profile(each, run.options().roles));
    }
  }
}

}  // namespace npuscope
