#include <cstring>
#include <protozero/pbf_builder.hpp>

#include "formats/qaic/qpc/network_descriptor.hpp"
#include "formats/qaic/qpc/network_descriptor_fields.hpp"

namespace npuscope::qaic {
namespace {

// Fields are written in ascending order and without default values, as protobuf's own proto3
// writer does, so that the bytes are the same.
template <class Field>
using Builder = protozero::pbf_builder<Field>;

template <class Field>
void add_string(Builder<Field>& out, Field field, std::string_view text) {
  if (!text.empty()) out.add_string(field, text.data(), text.size());
}

template <class Field>
void add_number(Builder<Field>& out, Field field, std::uint64_t value) {
  if (value != 0) out.add_uint64(field, value);
}

template <class Field>
void add_flag(Builder<Field>& out, Field field, bool value) {
  if (value) out.add_bool(field, value);
}

template <class Field>
void add_signed(Builder<Field>& out, Field field, std::int32_t value) {
  if (value != 0) out.add_int32(field, value);
}

class Writer {
 public:
  std::string take() { return std::move(bytes_); }

  void write_network(const NetworkDescriptor& network) {
    Builder<NetworkField> out(bytes_);
    add_number(out, NetworkField::major_version, network.major_version);
    add_number(out, NetworkField::minor_version, network.minor_version);
    add_string(out, NetworkField::network_name, network.network_name);
    for (const auto& input : network.inputs) write_binding(out, NetworkField::inputs, input);
    for (const auto& output : network.outputs) write_binding(out, NetworkField::outputs, output);
    for (const auto& buffer : network.dma_buffers) write_dma_buffer(out, buffer);
    add_number(out, NetworkField::num_cores, network.num_cores);
    add_number(out, NetworkField::num_threads, network.num_threads);
    add_number(out, NetworkField::num_hvx_threads, network.num_hvx_threads);
    out.add_packed_uint32(NetworkField::thread_groups, network.thread_groups.begin(),
                          network.thread_groups.end());
    add_number(out, NetworkField::thread_group_issue_count, network.thread_group_names.size());
    if (network.has_stats) {
      nest<StatsField>(out, NetworkField::stats,
                       [&](auto& stats) { write_stats(stats, network.stats); });
    }
    for (const auto& name : network.thread_group_names) {
      out.add_string(NetworkField::thread_group_names, name);
    }
    add_number(out, NetworkField::batch_size, network.batch_size);
  }

 private:
  // A message inside a message. protozero drops empty ones, but an empty thread group keeps its
  // place in the list.
  template <class Inner, class Outer, class Fill>
  void nest(Builder<Outer>& outer, Outer field, Fill fill) {
    const std::size_t before = bytes_.size();
    {
      Builder<Inner> inner(outer, field);
      fill(inner);
    }
    if (bytes_.size() == before) outer.add_message(field, "", 0);
  }

  void write_io(Builder<IoField>& out, const IoInfo& io) {
    add_number(out, IoField::type, std::uint32_t(io.type));
    if (io.quantization_scale != 0) out.add_float(IoField::qscale, io.quantization_scale);
    add_signed(out, IoField::qoffset, io.quantization_offset);
    out.add_packed_int64(IoField::dims, io.dims.begin(), io.dims.end());
    add_number(out, IoField::layout, io.layout);
  }

  void write_binding(Builder<NetworkField>& network, NetworkField field, const IoBinding& binding) {
    nest<BindingField>(network, field, [&](auto& out) {
      const IoInfo& transformed = binding.transformed ? *binding.transformed : binding.initial;
      add_string(out, BindingField::name, binding.name);
      nest<IoField>(out, BindingField::io_initial,
                    [&](auto& io) { write_io(io, binding.initial); });
      nest<IoField>(out, BindingField::io_transformed,
                    [&](auto& io) { write_io(io, transformed); });
      add_flag(out, BindingField::is_partial_allowed, binding.is_partial_allowed);
      add_number(out, BindingField::align, binding.align);
    });
  }

  void write_dma_buffer(Builder<NetworkField>& network, const DmaBuffer& buffer) {
    nest<DmaBufferField>(network, NetworkField::dma_buffers, [&](auto& out) {
      add_number(out, DmaBufferField::size, buffer.size);
      add_number(out, DmaBufferField::dir, buffer.direction);
    });
  }

  void write_stats(Builder<StatsField>& out, const StatsDescriptor& stats) {
    add_number(out, StatsField::buff_num, stats.buffer_index);
    add_flag(out, StatsField::print_stats, stats.print_stats);
    add_number(out, StatsField::stats_level, stats.stats_level);
    add_flag(out, StatsField::stats_no_host_sync, stats.no_host_sync);
    add_flag(out, StatsField::print_op_stats, stats.print_op_stats);
    add_number(out, StatsField::op_stats_level, stats.op_stats_level);
    add_number(out, StatsField::batch_size, stats.batch_size);
    add_flag(out, StatsField::count_ddr_bw, stats.count_ddr_bandwidth);
    add_signed(out, StatsField::utimer_freq_ms, stats.utimer_ticks_per_ms);
    out.add_packed_int32(StatsField::pmu_events, stats.pmu_events.begin(), stats.pmu_events.end());
    out.add_packed_int32(StatsField::ops_per_core, stats.ops_per_core.begin(),
                         stats.ops_per_core.end());
    for (const auto& groups : stats.ops) {
      nest<CoreField>(out, StatsField::core_op_name_kinds, [&](auto& core) {
        for (const auto& ops : groups) write_group(core, ops, stats.texts);
      });
    }
    add_number(out, StatsField::pmu_stats_level, stats.pmu_stats_level);
  }

  void write_group(Builder<CoreField>& core, const std::vector<OpNameKind>& ops,
                   const StringPool& texts) {
    nest<ThreadGroupField>(core, CoreField::tg_op_name_kinds, [&](auto& group) {
      for (const OpNameKind& op : ops) {
        nest<OpField>(group, ThreadGroupField::op_name_kinds,
                      [&](auto& out) { write_op(out, op, texts); });
      }
    });
  }

  void write_op(Builder<OpField>& out, const OpNameKind& op, const StringPool& texts) {
    add_string(out, OpField::name, texts[op.name]);
    add_string(out, OpField::kind, texts[op.kind]);
    add_string(out, OpField::type, texts[op.type]);
    add_string(out, OpField::memory, texts[op.memory]);
    add_string(out, OpField::shape, texts[op.shape]);
    add_string(out, OpField::operand, texts[op.operand]);
    add_number(out, OpField::output_size, op.output_size);
    add_string(out, OpField::attributes, texts[op.attributes]);
    for (const StringId operand : op.operands) {
      const std::string_view text = texts[operand];
      out.add_string(OpField::operands, text.data(), text.size());
    }
  }

  std::string bytes_;
};

}  // namespace

std::vector<std::byte> write_network_descriptor(const NetworkDescriptor& descriptor) {
  Writer writer;
  writer.write_network(descriptor);
  const std::string bytes = writer.take();
  std::vector<std::byte> out(bytes.size());
  if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

}  // namespace npuscope::qaic
