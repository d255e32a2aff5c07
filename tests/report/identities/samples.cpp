#include "report/identities/samples.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/parallel.hpp"
#include "npuscope/analysis/run_sets.hpp"
#include "npuscope/formats/open.hpp"

namespace npuscope::report::identities {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t max_bytes = 40u << 20;
constexpr std::size_t max_files_of_set = 64;

struct Input {
  fs::path path;
  std::string name;
  bool is_folder = false;
  std::vector<Profile> profiles = {};
};

// Files, and folders whose files may be one set.
std::vector<Input> inputs_of(const fs::path& root, Samples& samples) {
  std::vector<Input> inputs;
  if (!fs::exists(root)) return inputs;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const std::string name = fs::relative(entry.path(), root).string();
    if (entry.is_directory()) {
      const auto files = std::distance(fs::recursive_directory_iterator(entry.path()), {});
      if (std::size_t(files) <= max_files_of_set) inputs.push_back({entry.path(), name, true});
    } else if (entry.is_regular_file() && entry.file_size() > max_bytes) {
      samples.left_out += 1;
    } else if (entry.is_regular_file()) {
      inputs.push_back({entry.path(), name});
    }
  }
  std::ranges::sort(inputs, {}, &Input::path);
  return inputs;
}

std::string files_of(const Profile& profile) {
  std::string text;
  for (const std::string& file : profile.provenance.files) text += file + "\n";
  return text + profile.provenance.graph;
}

void open_all(std::vector<Input> inputs, Samples& samples) {
  parallel_for(inputs.size(), [&](std::size_t i) {
    auto opened = open_profiles({&inputs[i].path, 1});
    if (opened) inputs[i].profiles = analysis::join_runs(std::move(opened->profiles));
  });
  std::set<std::string> sets;  // a folder in a folder is found twice
  for (Input& input : inputs) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < input.profiles.size(); ++i) {
      Profile& profile = input.profiles[i];
      const bool is_set = profile.provenance.files.size() > 1;
      if (input.is_folder && (!is_set || !sets.insert(files_of(profile)).second)) continue;
      kept += 1;
      samples.all.push_back(
          {input.name + " #" + std::to_string(i), analysis::Analysis(std::move(profile))});
    }
    (input.is_folder ? samples.sets : samples.files) += kept > 0 ? 1 : 0;
  }
}

}  // namespace

const Samples& all_samples() {
  static const Samples samples = [] {
    Samples made;
    const fs::path shared = NPUSCOPE_SHARED_DIR "/data";
    made.has_shared = fs::exists(shared);
    open_all(inputs_of(shared, made), made);
    open_all(inputs_of(NPUSCOPE_TEST_DATA, made), made);
    for (auto& [name, profile] : reference_runs()) {
      made.all.push_back({name, analysis::Analysis(std::move(profile))});
      made.reference += 1;
    }
    return made;
  }();
  return samples;
}

}  // namespace npuscope::report::identities
