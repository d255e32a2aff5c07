// Runs a fuzz target without libFuzzer: over what it makes itself, over files, and over so many
// mutants of each, always the same ones. What a crash was found with is left as the file that
// --left names.
//
//   fuzz_open --mutants 20 --left crash.bin tests/data/perfetto_cases trace.json
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "fuzz/fuzzing.hpp"
#include "fuzz/mutants.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_seed_bytes = 64 << 10;

std::vector<fs::path> seeds_in(const std::vector<fs::path>& paths) {
  std::vector<fs::path> files;
  for (const fs::path& path : paths) {
    if (!fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      if (entry.is_regular_file() && entry.file_size() <= max_seed_bytes) {
        files.push_back(entry.path());
      }
    }
  }
  std::ranges::sort(files);
  return files;
}

void run(const std::string& bytes, const char* left) {
  if (left != nullptr) std::ofstream(left, std::ios::binary) << bytes;
  // A copy of exactly that size: what reads beyond it is seen by the sanitizer.
  const std::vector<std::uint8_t> copy(bytes.begin(), bytes.end());
  LLVMFuzzerTestOneInput(copy.data(), copy.size());
}

}  // namespace

int main(int count, char** words) {
  std::vector<fs::path> paths;
  std::size_t mutants = 0;
  const char* left = nullptr;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--mutants" && i + 1 < count) {
      mutants = std::size_t(std::strtoul(words[++i], nullptr, 10));
    } else if (word == "--left" && i + 1 < count) {
      left = words[++i];
    } else {
      paths.emplace_back(word);
    }
  }
  std::vector<std::string> seeds = npuscope::fuzz::good_inputs();
  for (const fs::path& file : seeds_in(paths)) seeds.push_back(npuscope::fuzz::contents(file));
  if (seeds.empty()) {
    std::fprintf(stderr, "no seeds\n");
    return 1;
  }
  for (const std::string& seed : seeds) run(seed, left);
  std::mt19937_64 random(20'260'101);
  for (const std::string& seed : seeds) {
    for (std::size_t i = 0; i < mutants; ++i) {
      const std::string& other = seeds[random() % seeds.size()];
      run(npuscope::fuzz::mutant(seed, other, random), left);
    }
  }
  if (left != nullptr) fs::remove(left);
  std::printf("%zu seeds and %zu mutants\n", seeds.size(), seeds.size() * mutants);
  return 0;
}
