#include <fmt/format.h>

#include <cmath>

#include "base/text.hpp"
#include "formats/qaic/qpc/network_descriptor.hpp"

namespace npuscope::qaic {
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

// Writes one key or list element a line, indented by two blanks a level. Descriptors of large
// networks have millions of keys, so there is no tree in between.
class JsonWriter {
 public:
  std::string take() {
    out_ += '\n';
    return std::move(out_);
  }

  template <class Fill>
  void object(std::string_view key, Fill fill) {
    nested(key, '{', '}', fill);
  }
  // Calls write("", element) for each element.
  template <class Elements, class Write>
  void list(std::string_view key, const Elements& elements, Write write) {
    nested(key, '[', ']', [&] {
      for (const auto& element : elements) write(std::string_view(), element);
    });
  }
  void text(std::string_view key, std::string_view value) {
    begin(key);
    quote(value);
  }
  template <class Number>
  void number(std::string_view key, Number value) {
    begin(key);
    fmt::format_to(std::back_inserter(out_), "{}", value);  // `true` and `false` for a bool
  }
  void real(std::string_view key, float value) {
    begin(key);
    // JSON has no infinities.
    out_ += std::isfinite(value) ? fmt::format("{}", value) : "null";
  }
  // On one line: shapes and the like.
  template <class Numbers>
  void numbers(std::string_view key, const Numbers& values) {
    begin(key);
    fmt::format_to(std::back_inserter(out_), "[{}]", fmt::join(values, ", "));
  }

 private:
  template <class Fill>
  void nested(std::string_view key, char open, char close, Fill fill) {
    begin(key);
    out_ += open;
    ++depth_;
    first_ = true;
    fill();
    --depth_;
    if (!first_) new_line();
    out_ += close;
    first_ = false;
  }

  void begin(std::string_view key) {
    if (!first_) out_ += ',';
    if (depth_ > 0) new_line();
    first_ = false;
    if (!key.empty()) {
      quote(key);
      out_ += ": ";
    }
  }
  void new_line() {
    out_ += '\n';
    out_.append(2 * depth_, ' ');
  }
  void quote(std::string_view value) {
    out_ += '"';
    append_json_escaped(out_, value);
    out_ += '"';
  }

  std::string out_;
  std::size_t depth_ = 0;
  bool first_ = true;
};

class DescriptorJson {
 public:
  std::string write(const NetworkDescriptor& network) {
    json_.object("", [&] { write_network(network); });
    return json_.take();
  }

 private:
  void write_network(const NetworkDescriptor& network) {
    const auto binding = [&](auto key, const IoBinding& value) { write_binding(key, value); };
    json_.number("major_version", network.major_version);
    json_.number("minor_version", network.minor_version);
    json_.text("network_name", network.network_name);
    json_.list("inputs", network.inputs, binding);
    json_.list("outputs", network.outputs, binding);
    json_.list("dma_buffers", network.dma_buffers, [&](auto key, const DmaBuffer& buffer) {
      json_.object(key, [&] {
        json_.number("size", buffer.size);
        json_.text("dir", buffer.direction == 0 ? "In" : "Out");
      });
    });
    json_.number("num_cores", network.num_cores);
    json_.number("num_threads", network.num_threads);
    json_.number("num_hvx_threads", network.num_hvx_threads);
    json_.numbers("thread_groups", network.thread_groups);
    if (network.has_stats) json_.object("stats", [&] { write_stats(network.stats); });
    json_.list("thread_group_names", network.thread_group_names,
               [&](auto key, const std::string& name) { json_.text(key, name); });
    json_.number("batch_size", network.batch_size);
  }

  void write_binding(std::string_view key, const IoBinding& binding) {
    json_.object(key, [&] {
      json_.text("name", binding.name);
      write_io("io_initial", binding.initial);
      write_io("io_transformed", binding.transformed ? *binding.transformed : binding.initial);
      json_.number("is_partial_allowed", binding.is_partial_allowed);
      json_.number("align", binding.align);
    });
  }

  void write_io(std::string_view key, const IoInfo& io) {
    json_.object(key, [&] {
      json_.text("type", name_of(io.type));
      json_.real("qscale", io.quantization_scale);
      json_.number("qoffset", io.quantization_offset);
      json_.numbers("dims", io.dims);
      json_.number("layout", io.layout);
    });
  }

  void write_stats(const StatsDescriptor& stats) {
    json_.number("buff_num", stats.buffer_index);
    json_.number("print_stats", stats.print_stats);
    json_.number("stats_level", stats.stats_level);
    json_.number("stats_no_host_sync", stats.no_host_sync);
    json_.number("print_op_stats", stats.print_op_stats);
    json_.number("op_stats_level", stats.op_stats_level);
    json_.number("batch_size", stats.batch_size);
    json_.number("count_ddr_bw", stats.count_ddr_bandwidth);
    json_.number("utimer_freq_ms", stats.utimer_ticks_per_ms);
    json_.numbers("pmu_events", stats.pmu_events);
    json_.numbers("ops_per_core", stats.ops_per_core);
    json_.list("core_op_name_kinds", stats.ops, [&](auto core_key, const auto& groups) {
      json_.object(core_key, [&] {
        json_.list("tg_op_name_kinds", groups, [&](auto group_key, const auto& ops) {
          json_.object(group_key, [&] {
            json_.list("op_name_kinds", ops,
                       [&](auto op_key, const OpNameKind& op) { write_op(op_key, op); });
          });
        });
      });
    });
    json_.number("pmu_stats_level", stats.pmu_stats_level);
  }

  void write_op(std::string_view key, const OpNameKind& op) {
    json_.object(key, [&] {
      json_.text("name", op.name);
      json_.text("kind", op.kind);
      json_.text("type", op.type);
      json_.text("memory", op.memory);
      json_.text("shape", op.shape);
      json_.text("operand", op.operand);
      json_.number("output_size", op.output_size);
      json_.text("attributes", op.attributes);
      json_.list("operands", op.operands,
                 [&](auto operand_key, const std::string& text) { json_.text(operand_key, text); });
    });
  }

  JsonWriter json_;
};

}  // namespace

std::string network_descriptor_json(const NetworkDescriptor& descriptor) {
  return DescriptorJson().write(descriptor);
}

}  // namespace npuscope::qaic
