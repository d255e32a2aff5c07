#include "formats/qaic/qpc/network_descriptor.hpp"

#include <fmt/format.h>

#include "base/json_writer.hpp"
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
        return fmt::format("op {} has an output of {} bytes", network.stats.texts[op.name],
                           op.output_size);
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

namespace {

// Names of the published enum dataType.
std::string name_of(IoDataType type) {
  switch (type) {
    case IoDataType::float32: return "FloatTy";
    case IoDataType::float16: return "Float16Ty";
    case IoDataType::int8q: return "Int8QTy";
    case IoDataType::uint8q: return "UInt8QTy";
    case IoDataType::int16q: return "Int16QTy";
    case IoDataType::int32q: return "Int32QTy";
    case IoDataType::int32i: return "Int32ITy";
    case IoDataType::int64i: return "Int64ITy";
    case IoDataType::int8: return "Int8Ty";
  }
  return fmt::format("{}", std::uint32_t(type));
}

// One key or list element a line; shapes and the like on one. Descriptors of large networks have
// millions of keys.
class DescriptorJson {
 public:
  std::string write(const NetworkDescriptor& network) {
    json_.object([&] { write_network(network); });
    out_ += '\n';
    return std::move(out_);
  }

 private:
  void write_network(const NetworkDescriptor& network) {
    const auto binding = [&](const IoBinding& value) { write_binding(value); };
    json_.member("major_version", network.major_version);
    json_.member("minor_version", network.minor_version);
    json_.member("network_name", network.network_name);
    list("inputs", network.inputs, binding);
    list("outputs", network.outputs, binding);
    list("dma_buffers", network.dma_buffers, [&](const DmaBuffer& buffer) {
      json_.object([&] {
        json_.member("size", buffer.size);
        json_.member("dir", buffer.direction == 0 ? "In" : "Out");
      });
    });
    json_.member("num_cores", network.num_cores);
    json_.member("num_threads", network.num_threads);
    json_.member("num_hvx_threads", network.num_hvx_threads);
    numbers("thread_groups", network.thread_groups);
    if (network.has_stats) object("stats", [&] { write_stats(network.stats); });
    list("thread_group_names", network.thread_group_names,
         [&](const std::string& name) { json_.value(name); });
    json_.member("batch_size", network.batch_size);
  }

  void write_binding(const IoBinding& binding) {
    json_.object([&] {
      json_.member("name", binding.name);
      write_io("io_initial", binding.initial);
      write_io("io_transformed", binding.transformed ? *binding.transformed : binding.initial);
      json_.member("is_partial_allowed", binding.is_partial_allowed);
      json_.member("align", binding.align);
    });
  }

  void write_io(std::string_view key, const IoInfo& io) {
    object(key, [&] {
      json_.member("type", name_of(io.type));
      json_.member("qscale", io.quantization_scale);
      json_.member("qoffset", io.quantization_offset);
      numbers("dims", io.dims);
      json_.member("layout", io.layout);
    });
  }

  void write_stats(const StatsDescriptor& stats) {
    json_.member("buff_num", stats.buffer_index);
    json_.member("print_stats", stats.print_stats);
    json_.member("stats_level", stats.stats_level);
    json_.member("stats_no_host_sync", stats.no_host_sync);
    json_.member("print_op_stats", stats.print_op_stats);
    json_.member("op_stats_level", stats.op_stats_level);
    json_.member("batch_size", stats.batch_size);
    json_.member("count_ddr_bw", stats.count_ddr_bandwidth);
    json_.member("utimer_freq_ms", stats.utimer_ticks_per_ms);
    numbers("pmu_events", stats.pmu_events);
    numbers("ops_per_core", stats.ops_per_core);
    list("core_op_name_kinds", stats.ops, [&](const auto& groups) {
      json_.object([&] {
        list("tg_op_name_kinds", groups, [&](const auto& ops) {
          json_.object([&] {
            list("op_name_kinds", ops, [&](const OpNameKind& op) { write_op(op, stats.texts); });
          });
        });
      });
    });
    json_.member("pmu_stats_level", stats.pmu_stats_level);
  }

  void write_op(const OpNameKind& op, const StringPool& texts) {
    json_.object([&] {
      json_.member("name", texts[op.name]);
      json_.member("kind", texts[op.kind]);
      json_.member("type", texts[op.type]);
      json_.member("memory", texts[op.memory]);
      json_.member("shape", texts[op.shape]);
      json_.member("operand", texts[op.operand]);
      json_.member("output_size", op.output_size);
      json_.member("attributes", texts[op.attributes]);
      list("operands", op.operands, [&](StringId text) { json_.value(texts[text]); });
    });
  }

  template <class Fill>
  void object(std::string_view key, Fill fill) {
    json_.key(key);
    json_.object(fill);
  }
  template <class Elements, class Write>
  void list(std::string_view key, const Elements& elements, Write write) {
    json_.key(key);
    json_.array(elements, write);
  }
  template <class Numbers>
  void numbers(std::string_view key, const Numbers& values) {
    json_.key(key);
    json_.array(
        values, [&](const auto& value) { json_.value(value); }, JsonLayout::spaced());
  }

  std::string out_;
  JsonWriter<std::string> json_{out_, JsonLayout::indented(2)};
};

}  // namespace

std::string network_descriptor_json(const NetworkDescriptor& descriptor) {
  return DescriptorJson().write(descriptor);
}

}  // namespace npuscope::qaic
