#include "formats/qaic/opstats/opstats_networks.hpp"

#include <toml++/toml.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/try.hpp"
#include "formats/qaic/device.hpp"
#include "formats/qaic/qpc/qpc.hpp"
#include "profile/names.hpp"

namespace npuscope::qaic {
namespace {

std::string last_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// As the description of hardware that the reference NPU's compiler puts into a program says.
void read_hardware(const Qpc& qpc, OpstatsNetwork& network) {
  const QpcSegment* segment = qpc.find(segment_target);
  if (segment == nullptr) return;
  try {
    const toml::table hardware = toml::parse(as_text(segment->bytes));
    const std::string description = hardware["description"].value_or(std::string());
    network.target = printable(hardware["name"].value_or(std::string()));
    network.device = printable(description.substr(0, description.find(':')));
  } catch (const toml::parse_error&) {  // whoever runs the program says so
  }
}

Result<OpstatsNetwork> load_network(const QpcProgram& found, const std::string& file,
                                    bool dependencies) {
  const std::string place = found.path.empty() ? file : fmt::format("{}: {}", file, found.path);
  const QpcSegment* segment = found.qpc.find(segment_network_descriptor);
  TRY_AS(descriptor, read_network_descriptor(
                         segment->bytes, fmt::format("{}: {}", place, segment_network_descriptor)));
  std::optional<Program> program;
  if (const auto* code = found.qpc.find(segment_program)) {
    TRY_AS(read, read_program(code->bytes, fmt::format("{}: {}", place, segment_program)));
    program = std::move(*read);
  }
  StatsNetworkOptions options;
  options.dependencies = dependencies;
  if (const std::string name = last_name(found.path); slice_number(name)) {
    options.label = name;
  }
  auto network = StatsNetwork::create(*descriptor, program ? &*program : nullptr, options);
  if (!network) {
    return input_error("{}: {}", place, network.error().message);
  }
  const std::string label = network->label();
  OpstatsNetwork loaded{label, program.has_value(), std::move(*network)};
  read_hardware(found.qpc, loaded);
  return loaded;
}

bool is_for(const OpstatsNetwork& candidate, std::string_view name) {
  return candidate.label == name || candidate.network.name() == name;
}

}  // namespace

Result<OpstatsNetworks> load_networks(ByteSpan bytes, const std::string& file, bool dependencies) {
  TRY_AS(programs, find_programs(bytes, file));
  OpstatsNetworks loaded;
  for (const QpcProgram& found : *programs) {
    auto network = load_network(found, file, dependencies);
    if (network) {
      loaded.networks.push_back(std::move(*network));
    } else {
      loaded.problems.push_back(network.error());
    }
  }
  if (!loaded.networks.empty()) return loaded;
  if (!loaded.problems.empty()) return tl::unexpected(loaded.problems.front());
  return input_error("{}: holds no network (networkdesc.bin); compile it again", file);
}

std::string OpstatsNetworks::names() const {
  std::string names;
  for (const OpstatsNetwork& network : networks) {
    names += (names.empty() ? "" : ", ") + network.label;
  }
  return names;
}

Result<Profile> OpstatsNetworks::decode(ByteSpan bytes, const StatsBufferFile& file,
                                        std::string& label) const {
  const std::string name = file.path.string();
  TRY(check_stats_buffer(bytes, name));
  const std::string own = network_name_in_stats_buffer(bytes).value_or("");
  std::vector<const OpstatsNetwork*> candidates;
  for (const OpstatsNetwork& network : networks) {
    const bool named = file.name.network.empty()
                           ? is_for(network, own) || own.empty()
                           : is_for(network, file.name.network) || is_for(network, own);
    if (named) candidates.push_back(&network);
  }
  if (candidates.empty()) {
    return input_error(
        "{}: belongs to network {} but the QPC has {}; give the programqpc.bin that "
        "was run",
        name, own.empty() ? file.name.network : own, names());
  }
  // The one that is named exactly comes first.
  std::stable_partition(candidates.begin(), candidates.end(), [&](const OpstatsNetwork* network) {
    return network->label == file.name.network;
  });
  Result<Profile> first = input_error("{}: not decoded", name);
  const OpstatsNetwork* used = nullptr;
  for (const OpstatsNetwork* candidate : candidates) {
    auto profile = decode_stats_buffer(bytes, name, candidate->network);
    const bool exact = candidate->label == file.name.network;
    if (!profile) {
      if (used == nullptr && candidate == candidates.front()) first = std::move(profile);
      continue;
    }
    // Devices that run the same program are told apart by the slice's number.
    const auto slice = slice_number(candidate->label);
    const bool right_device = !slice || *slice == profile->units.front().device;
    if (used == nullptr || exact || right_device) {
      first = std::move(profile);
      used = candidate;
    }
    if (exact || right_device) break;
  }
  if (used == nullptr) return first;
  label = used->label;
  used->name_hardware(first->provenance);
  return first;
}

void OpstatsNetwork::name_hardware(Provenance& provenance) const {
  name_device(provenance);
  if (target.empty() || target == provenance.target || device.empty()) return;
  provenance.target = target;
  provenance.device = device;
  provenance.platform = {};
  tell_platform_by_device(provenance);
}

}  // namespace npuscope::qaic
