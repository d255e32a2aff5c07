#include "formats/qaic/qpc/network_descriptor_check.hpp"

#include <fmt/format.h>

#include "formats/qaic/limits.hpp"

namespace npuscope::qaic {
namespace {

// Far beyond any device (16 cores of 6 threads), so that a wild descriptor cannot ask for memory.
constexpr std::uint32_t max_threads = 64;
// Far beyond any memory, and as much as a program may move (program_check.cpp).
constexpr std::uint64_t max_output_bytes = std::uint64_t{1} << 48;

std::string contradiction_in_threads(const NetworkDescriptor& network) {
  if (network.num_cores == 0) return "the network has no cores";
  if (network.num_cores > max_cores || network.num_threads == 0 ||
      network.num_threads > max_threads) {
    return fmt::format("{} cores of {} threads cannot be", network.num_cores, network.num_threads);
  }
  if (network.thread_groups.size() != network.num_threads) {
    return fmt::format("{} threads but thread groups for {}", network.num_threads,
                       network.thread_groups.size());
  }
  for (const std::uint32_t group : network.thread_groups) {
    if (group < network.thread_group_names.size()) continue;
    return fmt::format("a thread is in group {}, but {} groups have names", group,
                       network.thread_group_names.size());
  }
  return "";
}

std::string contradiction_in_ops(const NetworkDescriptor& network) {
  const auto& ops = network.stats.ops;
  if (!ops.empty() && ops.size() != network.num_cores) {
    return fmt::format("ops of {} cores are named, but the network has {}", ops.size(),
                       network.num_cores);
  }
  for (const auto& groups : ops) {
    if (groups.size() > network.thread_group_names.size()) {
      return fmt::format("ops of {} thread groups are named, but there are {}", groups.size(),
                         network.thread_group_names.size());
    }
    for (const auto& group : groups) {
      for (const OpNameKind& op : group) {
        if (op.output_size <= max_output_bytes) continue;
        return fmt::format("op {} has an output of {} bytes", op.name, op.output_size);
      }
    }
  }
  return "";
}

}  // namespace

std::string contradiction_in(const NetworkDescriptor& network) {
  const std::string found = contradiction_in_threads(network);
  return found.empty() && network.has_stats ? contradiction_in_ops(network) : found;
}

}  // namespace npuscope::qaic
