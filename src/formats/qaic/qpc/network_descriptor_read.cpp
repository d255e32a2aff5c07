#include <protozero/pbf_message.hpp>

#include "formats/qaic/qpc/network_descriptor.hpp"
#include "formats/qaic/qpc/network_descriptor_fields.hpp"

namespace npuscope::qaic {
namespace {

using protozero::data_view;
using protozero::pbf_wire_type;
using protozero::tag_and_type;

template <class Field>
using Message = protozero::pbf_message<Field>;

constexpr auto varint = pbf_wire_type::varint;
constexpr auto bytes_type = pbf_wire_type::length_delimited;

// An op or a binding takes 2 bytes in the file but some hundred in memory; no network comes near
// this many.
constexpr std::size_t max_ops = std::size_t{1} << 22;
constexpr std::size_t max_bindings = std::size_t{1} << 16;
struct TooMany {
  std::string_view what;
  std::size_t max;
};

// protozero reports broken bytes by exceptions; none leaves this file. A known field of another
// wire type is skipped like an unknown one.
class DescriptorReader {
 public:
  explicit DescriptorReader(data_view bytes) : begin_(bytes.data()), at_(bytes.data()) {}

  // Where the field begins that is being read.
  std::size_t offset() const { return std::size_t(at_ - begin_); }

  NetworkDescriptor read_network(data_view bytes) {
    NetworkDescriptor out;
    out.major_version = 0;  // proto3: what is not written is zero
    out.batch_size = 0;
    for_each<NetworkField>(bytes, [&](auto& in) { return read_network_field(in, out); });
    return out;
  }

 private:
  // Calls read(message) at each field; read says whether it took the field.
  template <class Field, class Read>
  void for_each(data_view bytes, Read read) {
    Message<Field> message(bytes);
    while (true) {
      at_ = message.data().data();
      if (!message.next()) return;
      if (!read(message)) message.skip();
    }
  }

  // Repeated numbers come packed or, from old writers, one by one.
  template <class Field, class Number, class Get>
  static void append_packed(Message<Field>& in, std::vector<Number>& out, Get get) {
    for (const auto value : get(in)) out.push_back(Number(value));
  }

  bool read_network_field(Message<NetworkField>& in, NetworkDescriptor& out) {
    switch (in.tag_and_type()) {
      case tag_and_type(NetworkField::major_version, varint):
        out.major_version = in.get_uint32();
        return true;
      case tag_and_type(NetworkField::minor_version, varint):
        out.minor_version = in.get_uint32();
        return true;
      case tag_and_type(NetworkField::network_name, bytes_type):
        out.network_name = in.get_string();
        return true;
      case tag_and_type(NetworkField::inputs, bytes_type):
        add_binding(in.get_view(), out.inputs);
        return true;
      case tag_and_type(NetworkField::outputs, bytes_type):
        add_binding(in.get_view(), out.outputs);
        return true;
      case tag_and_type(NetworkField::dma_buffers, bytes_type):
        out.dma_buffers.push_back(read_dma_buffer(in.get_view()));
        return true;
      case tag_and_type(NetworkField::stats, bytes_type):
        read_stats(in.get_view(), out);
        return true;
      case tag_and_type(NetworkField::batch_size, varint):
        out.batch_size = in.get_uint32();
        return true;
      default: return read_thread_field(in, out);
    }
  }

  bool read_thread_field(Message<NetworkField>& in, NetworkDescriptor& out) {
    switch (in.tag_and_type()) {
      case tag_and_type(NetworkField::num_cores, varint):
        out.num_cores = in.get_uint32();
        return true;
      case tag_and_type(NetworkField::num_threads, varint):
        out.num_threads = in.get_uint32();
        return true;
      case tag_and_type(NetworkField::num_hvx_threads, varint):
        out.num_hvx_threads = in.get_uint32();
        return true;
      case tag_and_type(NetworkField::thread_groups, bytes_type):
        append_packed(in, out.thread_groups, [](auto& m) { return m.get_packed_uint32(); });
        return true;
      case tag_and_type(NetworkField::thread_groups, varint):
        out.thread_groups.push_back(in.get_uint32());
        return true;
      case tag_and_type(NetworkField::thread_group_names, bytes_type):
        out.thread_group_names.push_back(in.get_string());
        return true;
      default: return false;
    }
  }

  void add_binding(data_view bytes, std::vector<IoBinding>& bindings) {
    if (bindings.size() == max_bindings) throw TooMany{"inputs or outputs", max_bindings};
    bindings.push_back(read_binding(bytes));
  }

  IoBinding read_binding(data_view bytes) {
    IoBinding out;
    for_each<BindingField>(bytes, [&](auto& in) {
      switch (in.tag_and_type()) {
        case tag_and_type(BindingField::name, bytes_type): out.name = in.get_string(); return true;
        case tag_and_type(BindingField::io_initial, bytes_type):
          out.initial = read_io(in.get_view());
          return true;
        case tag_and_type(BindingField::io_transformed, bytes_type):
          out.transformed = read_io(in.get_view());
          return true;
        case tag_and_type(BindingField::is_partial_allowed, varint):
          out.is_partial_allowed = in.get_bool();
          return true;
        case tag_and_type(BindingField::align, varint): out.align = in.get_uint32(); return true;
        default: return false;
      }
    });
    if (out.transformed == out.initial) out.transformed.reset();
    return out;
  }

  IoInfo read_io(data_view bytes) {
    IoInfo out;
    for_each<IoField>(bytes, [&](auto& in) {
      switch (in.tag_and_type()) {
        case tag_and_type(IoField::type, varint):
          out.type = IoDataType(in.get_uint32());
          return true;
        case tag_and_type(IoField::qscale, pbf_wire_type::fixed32):
          out.quantization_scale = in.get_float();
          return true;
        case tag_and_type(IoField::qoffset, varint):
          out.quantization_offset = in.get_int32();
          return true;
        case tag_and_type(IoField::dims, bytes_type):
          append_packed(in, out.dims, [](auto& m) { return m.get_packed_int64(); });
          return true;
        case tag_and_type(IoField::dims, varint): out.dims.push_back(in.get_int64()); return true;
        case tag_and_type(IoField::layout, varint): out.layout = in.get_uint32(); return true;
        default: return false;
      }
    });
    return out;
  }

  DmaBuffer read_dma_buffer(data_view bytes) {
    DmaBuffer out;
    for_each<DmaBufferField>(bytes, [&](auto& in) {
      switch (in.tag_and_type()) {
        case tag_and_type(DmaBufferField::size, varint): out.size = in.get_uint64(); return true;
        case tag_and_type(DmaBufferField::dir, varint):
          out.direction = in.get_uint32();
          return true;
        default: return false;
      }
    });
    return out;
  }

  // A message field that occurs twice is merged, so a second one continues the first.
  void read_stats(data_view bytes, NetworkDescriptor& network) {
    StatsDescriptor& out = network.stats;
    if (!network.has_stats) {
      out.batch_size = 0;
      out.utimer_ticks_per_ms = 0;
      network.has_stats = true;
    }
    for_each<StatsField>(
        bytes, [&](auto& in) { return read_stats_option(in, out) || read_stats_list(in, out); });
  }

  bool read_stats_option(Message<StatsField>& in, StatsDescriptor& out) {
    if (in.wire_type() != varint) return false;
    switch (in.tag()) {
      case StatsField::buff_num: out.buffer_index = in.get_uint32(); return true;
      case StatsField::print_stats: out.print_stats = in.get_bool(); return true;
      case StatsField::stats_level: out.stats_level = in.get_uint32(); return true;
      case StatsField::stats_no_host_sync: out.no_host_sync = in.get_bool(); return true;
      case StatsField::print_op_stats: out.print_op_stats = in.get_bool(); return true;
      case StatsField::op_stats_level: out.op_stats_level = in.get_uint32(); return true;
      case StatsField::batch_size: out.batch_size = in.get_uint32(); return true;
      case StatsField::count_ddr_bw: out.count_ddr_bandwidth = in.get_bool(); return true;
      case StatsField::utimer_freq_ms: out.utimer_ticks_per_ms = in.get_int32(); return true;
      case StatsField::pmu_events: out.pmu_events.push_back(in.get_int32()); return true;
      case StatsField::ops_per_core: out.ops_per_core.push_back(in.get_int32()); return true;
      case StatsField::pmu_stats_level: out.pmu_stats_level = in.get_uint32(); return true;
      default: return false;
    }
  }

  bool read_stats_list(Message<StatsField>& in, StatsDescriptor& out) {
    switch (in.tag_and_type()) {
      case tag_and_type(StatsField::pmu_events, bytes_type):
        append_packed(in, out.pmu_events, [](auto& m) { return m.get_packed_int32(); });
        return true;
      case tag_and_type(StatsField::ops_per_core, bytes_type):
        append_packed(in, out.ops_per_core, [](auto& m) { return m.get_packed_int32(); });
        return true;
      case tag_and_type(StatsField::core_op_name_kinds, bytes_type):
        read_core(in.get_view(), out.texts, out.ops.emplace_back());
        return true;
      default: return false;
    }
  }

  void read_core(data_view bytes, StringPool& texts, std::vector<std::vector<OpNameKind>>& groups) {
    for_each<CoreField>(bytes, [&](auto& in) {
      if (in.tag_and_type() != tag_and_type(CoreField::tg_op_name_kinds, bytes_type)) return false;
      read_group(in.get_view(), texts, groups.emplace_back());
      return true;
    });
  }

  void read_group(data_view bytes, StringPool& texts, std::vector<OpNameKind>& ops) {
    // Counted before any is made, so that a hostile file costs no memory.
    std::size_t count = 0;
    const auto is_op = [](auto& in) {
      return in.tag_and_type() == tag_and_type(ThreadGroupField::op_name_kinds, bytes_type);
    };
    for_each<ThreadGroupField>(bytes, [&](auto& in) {
      count += is_op(in);
      return false;
    });
    if (count > max_ops - op_count_) throw TooMany{"ops", max_ops};
    op_count_ += count;
    ops.reserve(count);
    for_each<ThreadGroupField>(bytes, [&](auto& in) {
      if (!is_op(in)) return false;
      read_op(in.get_view(), texts, ops.emplace_back());
      return true;
    });
  }

  void read_op(data_view bytes, StringPool& texts, OpNameKind& out) {
    for_each<OpField>(bytes, [&](auto& in) {
      if (in.tag_and_type() == tag_and_type(OpField::output_size, varint)) {
        out.output_size = in.get_uint64();
        return true;
      }
      StringId* text = in.wire_type() == bytes_type ? text_field(in.tag(), out) : nullptr;
      if (text == nullptr) return false;
      const data_view view = in.get_view();
      *text = texts.intern({view.data(), view.size()});
      return true;
    });
  }

  static StringId* text_field(OpField field, OpNameKind& out) {
    switch (field) {
      case OpField::name: return &out.name;
      case OpField::kind: return &out.kind;
      case OpField::type: return &out.type;
      case OpField::memory: return &out.memory;
      case OpField::shape: return &out.shape;
      case OpField::operand: return &out.operand;
      case OpField::attributes: return &out.attributes;
      case OpField::operands: return &out.operands.emplace_back();
      default: return nullptr;
    }
  }

  const char* begin_;
  const char* at_;
  std::size_t op_count_ = 0;
};

}  // namespace

Result<NetworkDescriptor> read_network_descriptor(ByteSpan bytes, std::string_view name) {
  const data_view view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  DescriptorReader reader(view);
  try {
    NetworkDescriptor descriptor = reader.read_network(view);
    if (descriptor.major_version == 0 && descriptor.num_cores == 0) {
      return input_error("{}: {} bytes without version and cores are not a network descriptor",
                         name, bytes.size());
    }
    return descriptor;
  } catch (const protozero::exception& error) {
    return input_error(
        "{}: network descriptor is broken at byte {} of {} ({}); copy the file again", name,
        reader.offset(), bytes.size(), error.what());
  } catch (const TooMany& found) {
    return input_error("{}: network descriptor names more than {} {} (byte {}); it is damaged",
                       name, found.max, found.what, reader.offset());
  }
}

}  // namespace npuscope::qaic
