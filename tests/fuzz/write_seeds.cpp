// fuzz_files --seeds=FOLDER: what the target makes itself, as files from which libFuzzer begins. It
// leaves words with two dashes alone.
#include <fmt/format.h>

#include "fuzz/fuzzing.hpp"

extern "C" int LLVMFuzzerInitialize(int* count, char*** words) {
  constexpr std::string_view flag = "--seeds=";
  for (int i = 1; i < *count; ++i) {
    const std::string_view word = (*words)[i];
    if (!word.starts_with(flag)) continue;
    const std::filesystem::path folder = word.substr(flag.size());
    const std::vector<std::string> inputs = npuscope::fuzz::good_inputs();
    for (std::size_t each = 0; each < inputs.size(); ++each) {
      std::ofstream(folder / fmt::format("good{}", each), std::ios::binary) << inputs[each];
    }
  }
  return 0;
}
