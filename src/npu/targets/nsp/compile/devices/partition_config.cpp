#include "base/try.hpp"
#include "npu/targets/nsp/compile/compile.hpp"

#include <fmt/ranges.h>
#include <simdjson.h>

#include <algorithm>
#include <set>

#include "base/json_writer.hpp"

namespace npuscope::npu::nsp {
namespace {

namespace dom = simdjson::dom;

constexpr std::string_view form =
    "write {\"connections\": [{\"devices\": [0, 1], \"type\": \"p2p\"}], \"partitions\": "
    "[{\"name\": \"Partition0\", \"devices\": [{\"deviceId\": 0, \"numCores\": 16}, "
    "{\"deviceId\": 1, \"numCores\": 16}]}]}";

class ConfigReader {
 public:
  explicit ConfigReader(std::string_view name) : name_(name) {}

  Result<PartitionConfig> run(ByteSpan json) {
    dom::parser parser;
    dom::element document;
    const std::string_view text = as_text(json);
    if (const auto error = parser.parse(text.data(), text.size()).get(document)) {
      return input_error("{}: not JSON ({}); {}", name_, simdjson::error_message(error), form);
    }
    dom::array partitions;
    if (document.at_key("partitions").get_array().get(partitions) != simdjson::SUCCESS) {
      return input_error("{}: has no list of partitions; {}", name_, form);
    }
    if (partitions.size() != 1) {
      return input_error(
          "{}: has {} partitions; the reference compiler makes one, whose devices share every "
          "layer, and no pipeline of several",
          name_, partitions.size());
    }
    TRY(read_partition(partitions.at(0).value()));
    TRY(check_connections(document));
    return std::move(config_);
  }

 private:
  Status read_partition(const dom::element& partition) {
    std::string_view text;
    if (partition.at_key("name").get_string().get(text) == simdjson::SUCCESS) config_.name = text;
    if (partition.at_key("nodeList").error() == simdjson::SUCCESS) {
      return input_error(
          "{}: partition '{}' lists nodes; the reference compiler shares all nodes among the "
          "devices of the one partition, so leave the list out",
          name_, printable(config_.name));
    }
    dom::array devices;
    if (partition.at_key("devices").get_array().get(devices) != simdjson::SUCCESS ||
        devices.size() == 0 || devices.size() > max_partition_devices) {
      return input_error("{}: partition '{}' has no list of 1 to {} devices; {}", name_,
                         printable(config_.name), max_partition_devices, form);
    }
    config_.devices.clear();
    for (const dom::element& device : devices) TRY(read_device(device));
    return {};
  }

  Status read_device(const dom::element& device) {
    std::uint64_t id = 0;
    std::uint64_t cores = 0;
    if (device.at_key("deviceId").get_uint64().get(id) != simdjson::SUCCESS ||
        device.at_key("numCores").get_uint64().get(cores) != simdjson::SUCCESS ||
        id > 0xFFFF'FFFFu || cores < 1 || cores > 0xFFFFu) {
      return input_error("{}: device {} of partition '{}' lacks a deviceId or numCores; {}", name_,
                         config_.devices.size(), printable(config_.name), form);
    }
    if (config_.cores != 0 && config_.cores != cores) {
      return input_error(
          "{}: device {} has {} cores and another {}; the devices of a partition share evenly, so "
          "give them the same number",
          name_, id, cores, config_.cores);
    }
    config_.cores = std::uint32_t(cores);
    if (std::ranges::find(config_.devices, id) != config_.devices.end()) {
      return input_error("{}: device {} is given twice; name each device once", name_, id);
    }
    config_.devices.push_back(std::uint32_t(id));
    return {};
  }

  // Devices that share a layer must reach one another.
  Status check_connections(const dom::element& document) const {
    if (!config_.is_multi_device()) return {};
    dom::array connections;
    if (document.at_key("connections").get_array().get(connections) != simdjson::SUCCESS) {
      return input_error("{}: has no list of connections between its {} devices; {}", name_,
                         config_.devices.size(), form);
    }
    for (const dom::element& connection : connections) {
      std::set<std::uint64_t> joined;
      dom::array devices;
      std::string_view type;
      if (connection.at_key("type").get_string().get(type) != simdjson::SUCCESS || type != "p2p" ||
          connection.at_key("devices").get_array().get(devices) != simdjson::SUCCESS) {
        continue;
      }
      for (const dom::element& device : devices) {
        std::uint64_t id = 0;
        if (device.get_uint64().get(id) == simdjson::SUCCESS) joined.insert(id);
      }
      if (std::ranges::all_of(config_.devices,
                              [&](std::uint32_t device) { return joined.contains(device); })) {
        return {};
      }
    }
    return input_error("{}: no connection of type p2p joins the devices {}; {}", name_,
                       fmt::join(config_.devices, ", "), form);
  }

  std::string_view name_;
  PartitionConfig config_;
};

}  // namespace

Result<PartitionConfig> read_partition_config(ByteSpan json, std::string_view name) {
  return ConfigReader(name).run(json);
}

std::string write_partition_config(const PartitionConfig& config) {
  constexpr JsonLayout line = JsonLayout::wide();
  std::string out;
  JsonWriter json(out, JsonLayout::indented(2));
  json.object([&] {
    json.key("connections");
    json.begin_array();
    json.begin_object(line);
    json.key("devices");
    json.array(
        config.devices, [&](std::uint32_t device) { json.value(device); }, line);
    json.member("type", "p2p");
    json.end_object();
    json.end_array();
    json.key("partitions");
    json.begin_array();
    json.object([&] {
      json.member("name", config.name);
      json.key("devices");
      json.array(config.devices, [&](std::uint32_t device) {
        json.begin_object(line);
        json.member("deviceId", device);
        json.member("numCores", config.cores);
        json.end_object();
      });
    });
    json.end_array();
  });
  return out += '\n';
}

}  // namespace npuscope::npu::nsp
