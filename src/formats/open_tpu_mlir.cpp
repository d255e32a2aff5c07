// tpu-mlir: compiler profiles, a file a core, and what names their layers.
#include <algorithm>
#include <map>

#include "base/numbers.hpp"
#include "formats/open_table.hpp"
#include "formats/tpu_mlir/profile.hpp"

namespace npuscope {
namespace {

enum TpuMlirKind : FormatKind { compiler_profile, tensor_locations, module };

// What the inputs of one folder hold.
struct Folder {
  struct File {
    const Input* input;
    tpu_mlir::CompilerProfile profile;
  };
  std::vector<File> profiles;
  std::vector<tpu_mlir::TensorLocations> locations;
  std::vector<tpu_mlir::Module> modules;
};

// Of "compiler_profile_1.txt"; none of another name.
std::optional<std::uint32_t> core_number(const std::filesystem::path& path) {
  std::string name = path.filename().string();
  name.resize(std::min(name.find('.'), name.size()));
  const std::size_t at = name.rfind('_');
  if (at == name.npos) return std::nullopt;
  const auto number = parse_number<std::uint32_t>(std::string_view(name).substr(at + 1));
  constexpr std::uint32_t max_cores = 1024;
  return number && *number < max_cores ? number : std::nullopt;
}

void read_into(Folder& folder, const Input& input, OpenRun& run) {
  auto source = open_byte_source(input.path, run.options().source);
  if (!source) return run.fail(input, source.error());
  if (input.kind == compiler_profile) {
    auto profile = tpu_mlir::read_compiler_profile(**source);
    if (!profile) return run.fail(input, profile.error());
    folder.profiles.push_back({&input, std::move(*profile)});
  } else if (input.kind == tensor_locations) {
    auto locations = tpu_mlir::read_tensor_locations(**source);
    if (!locations) return run.fail(input, locations.error());
    folder.locations.push_back(std::move(*locations));
  } else {
    const auto head = read_head(input.path, head_bytes);
    if (!head) return run.fail(input, head.error());
    folder.modules.push_back(tpu_mlir::read_module(*head, input.path.string()));
  }
}

// Files of one program and of different cores are one profile.
void add_profiles(Folder& folder, OpenRun& run) {
  std::vector<bool> is_taken(folder.profiles.size(), false);
  for (std::size_t i = 0; i < folder.profiles.size(); ++i) {
    if (is_taken[i]) continue;
    const Input& input = *folder.profiles[i].input;
    std::vector<tpu_mlir::CoreProfile> cores;
    for (std::size_t j = i; j < folder.profiles.size(); ++j) {
      Folder::File& file = folder.profiles[j];
      const auto number = core_number(file.input->path);
      const bool is_core =
          j == i ||
          (number && !cores.empty() && core_number(input.path) &&
           std::ranges::find(cores, *number, &tpu_mlir::CoreProfile::core) == cores.end() &&
           tpu_mlir::are_of_one_program(cores.front().profile, file.profile));
      if (is_taken[j] || !is_core) continue;
      is_taken[j] = true;
      cores.push_back({number.value_or(0), std::move(file.profile)});
    }
    std::ranges::sort(cores, {}, &tpu_mlir::CoreProfile::core);
    run.add(input.order, make_profile(cores, folder.locations, folder.modules));
  }
}

}  // namespace

std::optional<FormatKind> recognise_tpu_mlir(const Candidate& candidate) {
  if (tpu_mlir::looks_like_compiler_profile(candidate.head)) return compiler_profile;
  if (tpu_mlir::looks_like_tensor_locations(candidate.head)) return tensor_locations;
  if (tpu_mlir::looks_like_module(candidate.head)) return module;
  return std::nullopt;
}

void open_tpu_mlir(std::span<const Input> inputs, OpenRun& run) {
  std::map<std::filesystem::path, Folder> folders;
  for (const Input& input : inputs) {
    read_into(folders[input.path.parent_path()], input, run);
  }
  for (auto& [path, folder] : folders) add_profiles(folder, run);
  for (const Input& input : inputs) {
    const Folder& folder = folders[input.path.parent_path()];
    if (input.kind == compiler_profile || !folder.profiles.empty()) continue;
    run.fail(input, Error{ErrorKind::input,
                          "of tpu-mlir, without times; name compiler_profile_0.txt next to it, "
                          "whose layers it names"});
  }
}

}  // namespace npuscope
