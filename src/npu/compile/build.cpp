#include "npuscope/npu/compile/build.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace npuscope::npu {
namespace {

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

Status choose_pmu_events(const Target& target, const std::string& recipe, CompileOptions& options,
                         std::vector<std::string>& warnings) {
  if (!recipe.empty()) {
    const auto found = target.pmu_recipes.find(recipe);
    if (found == target.pmu_recipes.end()) {
      std::vector<std::string> names;
      for (const auto& [name, codes] : target.pmu_recipes) names.push_back(name);
      return usage_error("-aic-pmu-recipe={}: {} has {}", recipe, target.name,
                         fmt::join(names, ", "));
    }
    options.pmu_events = found->second;
  }
  for (std::uint32_t code : options.pmu_events) {
    const bool known = std::any_of(target.pmu_events.begin(), target.pmu_events.end(),
                                   [&](const PmuEvent& event) { return event.code == code; });
    if (!known) {
      warnings.push_back(fmt::format("PMU event 0x{:X} is not in {}'s table; it will count nothing",
                                     code, target.name));
    }
  }
  return {};
}

Result<std::vector<Symbols>> specializations_of(const BuildRequest& request) {
  if (request.specializations.empty()) return std::vector<Symbols>{request.symbols};
  auto file = MappedFile::open(request.specializations);
  if (!file) return tl::unexpected(file.error());
  auto list = read_specializations(file->bytes(), request.specializations);
  if (!list) return list;
  for (Symbols& symbols : *list) {
    for (const auto& [name, value] : request.symbols) symbols.insert_or_assign(name, value);
  }
  return list;
}

}  // namespace

Result<std::pair<std::string, std::int64_t>> parse_symbol(std::string_view definition) {
  const std::size_t comma = definition.rfind(',');
  const std::string_view text =
      comma == std::string_view::npos ? std::string_view{} : definition.substr(comma + 1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (comma == 0 || error != std::errc{} || end != text.data() + text.size() || value < 1) {
    return usage_error(
        "-onnx-define-symbol={}: write name,value with a value of 1 or more, such as "
        "batch_size,1",
        definition);
  }
  return std::pair{std::string(definition.substr(0, comma)), value};
}

Result<std::vector<std::uint32_t>> parse_pmu_events(std::string_view list) {
  std::vector<std::uint32_t> codes;
  for (std::string_view part : split(list)) {
    if (part.starts_with("0x") || part.starts_with("0X")) part.remove_prefix(2);
    std::uint32_t code = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), code, 16);
    if (part.empty() || error != std::errc{} || end != part.data() + part.size()) {
      return usage_error("-aic-pmu-events={}: '{}' is not a hexadecimal event code", list, part);
    }
    codes.push_back(code);
  }
  if (codes.size() > 8) {
    return usage_error("-aic-pmu-events={}: {} events; the hardware counts at most 8 at once", list,
                       codes.size());
  }
  return codes;
}

Result<Target> find_target(const std::string& name_or_path) {
  if (!name_or_path.ends_with(".toml")) return builtin_target(name_or_path);
  auto file = MappedFile::open(name_or_path);
  if (!file) return tl::unexpected(file.error());
  return parse_target(as_text(file->bytes()), name_or_path);
}

Result<BuildResult> build_from_onnx(const std::filesystem::path& model, BuildRequest request) {
  BuildResult result;
  auto target = find_target(request.target);
  if (!target) return tl::unexpected(target.error());
  if (auto ok = choose_pmu_events(*target, request.pmu_recipe, request.options, result.warnings);
      !ok) {
    return tl::unexpected(ok.error());
  }
  const auto specializations = specializations_of(request);
  if (!specializations) return tl::unexpected(specializations.error());
  const std::string base_name = request.options.network_name;
  for (std::size_t i = 0; i < specializations->size(); ++i) {
    ImportOptions import;
    import.symbols = (*specializations)[i];
    import.allow_unknown = request.allow_unknown;
    import.batch = request.batch;
    const auto graph = import_onnx_file(model, import);
    if (!graph) return tl::unexpected(graph.error());
    for (const std::string& warning : graph->warnings) {
      if (std::find(result.warnings.begin(), result.warnings.end(), warning) ==
          result.warnings.end()) {
        result.warnings.push_back(warning);
      }
    }
    if (specializations->size() > 1) {
      request.options.network_name = fmt::format("{}_spec{}", base_name, i);
    }
    auto network = compile_network(*graph, *target, request.options);
    if (!network) return tl::unexpected(network.error());
    result.networks.push_back(std::move(*network));
  }
  auto qpc = package_qpc(result.networks, *target);
  if (!qpc) return tl::unexpected(qpc.error());
  result.qpc = std::move(*qpc);
  return result;
}

}  // namespace npuscope::npu
