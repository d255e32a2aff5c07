#include "npu/targets/nsp/compile/tasks/task_writer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "base/text.hpp"
#include "npu/targets/nsp/compile/tasks/compile_context.hpp"

namespace npuscope::npu::nsp {
namespace {

bool has_splat_operand(const Graph& graph, const Node& node) {
  return std::ranges::any_of(node.inputs, [&](TensorId id) {
    return id != TensorId::none && graph[id].constant && graph[id].elements() == 1;
  });
}

// Division by a known scalar is a multiplication; a scalar divided by a tensor is not.
bool divides_by_splat(const Graph& graph, const Node& node) {
  const TensorId divisor = node.inputs.size() > 1 ? node.inputs[1] : TensorId::none;
  return divisor != TensorId::none && graph[divisor].constant && graph[divisor].elements() == 1;
}

std::string elementwise_kernel(const Graph& graph, const Node& node) {
  static const auto names = word_pairs(
      "Relu=elementmax Clip=elementmax Max=elementmax Min=elementmin Cast=convertto "
      "CastLike=convertto QuantizeLinear=convertto DequantizeLinear=convertto "
      "DynamicQuantizeLinear=convertto Where=elementselect Equal=elementcompare "
      "Greater=elementcompare Less=elementcompare GreaterOrEqual=elementcompare "
      "LessOrEqual=elementcompare Reciprocal=elementdiv FastGelu=elementgelu QuickGelu=elementgelu "
      "BiasGelu=elementgelu Sum=elementadd Sqrt=elementsqrt");
  const bool splat = has_splat_operand(graph, node);
  if (node.op == "Add") {
    return splat ? "aicaddsplat" : broadcasts(graph, node) ? "aicbroadcastadd" : "elementadd";
  }
  if (node.op == "Sub" && splat) return "aicaddsplat";
  if (node.op == "Mul" && splat) return "aicmulsplat";
  if (node.op == "Div" && divides_by_splat(graph, node)) return "aicmulsplat";
  if (const auto found = names.find(node.op); found != names.end()) {
    return std::string(found->second);
  }
  return "element" + in_small_letters(node.op);
}

}  // namespace

bool broadcasts(const Graph& graph, const Node& node) {
  return std::ranges::any_of(node.inputs, [&](TensorId id) {
    return id != TensorId::none && graph[id].elements() != graph[node.outputs[0]].elements();
  });
}

std::string vector_kernel(const Graph& graph, const Node& node, OpClass op_class) {
  switch (op_class) {
    case OpClass::softmax: return "aicsoftmax";
    case OpClass::normalization:
      if (node.op == "BatchNormalization") return "aicbroadcastadd";
      return node.op == "LayerNormalization" || node.op == "SkipLayerNormalization"
                 ? "aiclayernormd32"
                 : "aicnormalizationpost";
    case OpClass::reduction:
      return node.op.find("Pool") != std::string::npos ? "aicavgpoold32" : "aicbatchedreduceadd";
    case OpClass::pooling: return node.op == "MaxPool" ? "aicmaxpoold32" : "aicavgpoold32";
    case OpClass::transpose: return "aictranspose";
    case OpClass::copy: return "aiccopysamevtcm";
    case OpClass::gather: return "aicgather";
    case OpClass::scatter: return "aicscatternd";
    case OpClass::sort: return node.op == "CumSum" ? "cumsum" : "aictopk";
    default: return elementwise_kernel(graph, node);
  }
}

HmxWork hmx_work(const Target& target, const MatrixProduct& product, std::uint64_t rows,
                 std::uint64_t columns, bool integer, bool in_place) {
  const std::uint64_t grain = target.hmx_alignment;
  const std::uint64_t channels = divide_up(product.depth, product.kernel_area);
  HmxWork work;
  work.macs = round_up(rows, grain) * round_up(channels, grain) * product.kernel_area *
              round_up(columns, grain);
  const bool shallow = in_place && channels <= grain && target.hmx_shallow_macs_per_cycle_fp16 > 0;
  const double fp16 =
      shallow ? target.hmx_shallow_macs_per_cycle_fp16 : double(target.hmx_macs_per_cycle_fp16);
  const double rate =
      (integer ? double(target.hmx_macs_per_cycle_int8) : fp16) * target.hmx_efficiency;
  const double per_kib = !integer && target.hmx_output_cycles_per_kib_fp16 > 0
                             ? target.hmx_output_cycles_per_kib_fp16
                             : target.hmx_output_cycles_per_kib;
  // Of several blocks of columns the last is put out as far as it is filled.
  const std::uint64_t made = columns > grain ? columns : grain;
  const double output_kib = double(round_up(rows, grain) * made) * (integer ? 1 : 2) / 1024;
  double cycles = double(work.macs) / rate + output_kib * per_kib;
  if (!integer && target.hmx_channel_macs_per_cycle_fp16 > 0) {
    cycles +=
        double(work.macs) / double(product.kernel_area) / target.hmx_channel_macs_per_cycle_fp16;
  }
  work.cycles = std::uint64_t(std::llround(target.hmx_overhead_cycles + cycles));
  return work;
}

std::uint64_t hvx_product_cycles(const Target& target, std::uint64_t macs, DataType type) {
  const double rate = bits_of(type) <= 8    ? target.hvx_macs_per_cycle_int8
                      : bits_of(type) <= 16 ? target.hvx_macs_per_cycle_fp16
                                            : target.hvx_macs_per_cycle_fp32;
  return std::uint64_t(std::llround(target.default_kernel.overhead_cycles + double(macs) / rate));
}

namespace {

template <class Visit>
void for_each_operand(const Node& node, const Visit& visit) {
  for (const auto* ids : {&node.outputs, &node.inputs}) {
    for (TensorId id : *ids)
      if (id != TensorId::none) visit(id);
  }
}

// Dest, Dest1, Src, Src1: in the order in which they are asked for.
class Roles {
 public:
  void add_next(TaskOperand::Use use, fmt::memory_buffer& text) {
    const bool reads = use == TaskOperand::Use::in;
    const std::size_t index = reads ? sources_++ : results_++;
    text.append(std::string_view(reads ? "Src" : "Dest"));
    if (index > 0) text.append(fmt::format_int(index));
  }

 private:
  std::size_t results_ = 0, sources_ = 0;
};

// "1 x 32 x 4096"
void add_shape(const Shape& shape, fmt::memory_buffer& text) {
  if (shape.empty()) text.push_back('1');
  for (const std::int64_t& extent : shape) {
    if (&extent != &shape.front()) text.append(std::string_view(" x "));
    text.append(fmt::format_int(extent));
  }
}

std::string_view text_of(TaskOperand::Use use) {
  constexpr std::string_view texts[] = {"in", "out", "inout"};
  return texts[std::size_t(use)];
}

std::string_view text_of(TaskOperand::Memory memory) {
  constexpr std::string_view texts[] = {"", "TCM", "DDR"};
  return texts[std::size_t(memory)];
}

}  // namespace

Shape part_of_shape(const Shape& whole, std::uint64_t elements) {
  std::uint64_t inner = elements_of(whole);
  if (inner == elements || whole.empty()) return whole;
  Shape part = whole;
  for (std::size_t axis = 0; axis < part.size(); ++axis) {
    inner = whole[axis] > 0 ? inner / std::uint64_t(whole[axis]) : 1;
    const bool last = axis + 1 == part.size();
    if (last || (inner > 0 && elements % inner == 0 && elements >= inner)) {
      part[axis] = std::int64_t(last ? elements : elements / inner);
      return part;
    }
    part[axis] = 1;
  }
  return part;
}

Shape part_of_shape(const Shape& whole, std::uint64_t bytes, DataType type) {
  if (device_bytes(elements_of(whole), type) == bytes) return whole;
  // A block of 32 elements has a scale of one byte; strings have no bits.
  const bool blocks = type == DataType::mxfp6 || type == DataType::mxint8;
  const std::uint64_t elements =
      blocks ? bytes * 32 / (4 * bits_of(type) + 1) : bytes * 8 / std::max(bits_of(type), 1u);
  return part_of_shape(whole.empty() ? Shape{1} : whole, elements);
}

std::string shapes_of(std::span<const TaskOperand> operands) {
  fmt::memory_buffer text;
  Roles roles;
  for (const TaskOperand& operand : operands) {
    const TaskOperand& first = operands.front();
    const bool copied =
        &operand != &first && operand.name == first.name && operand.shape == first.shape;
    if (copied) continue;
    if (text.size() > 0) text.append(std::string_view(", "));
    roles.add_next(operand.use, text);
    text.append(std::string_view(" ["));
    add_shape(operand.shape, text);
    text.push_back(']');
  }
  return fmt::to_string(text);
}

std::string types_of(const Graph& graph, const Node& node, bool convert_to_fp16) {
  std::vector<std::string_view> types;
  for_each_operand(node, [&](TensorId id) {
    const auto type = name_of(device_type(graph[id].type, convert_to_fp16));
    if (std::ranges::find(types, type) == types.end()) types.push_back(type);
  });
  return fmt::format("{}", fmt::join(types, ", "));
}

std::string operands_of(std::span<const TaskOperand> operands) {
  fmt::memory_buffer text;
  Roles roles;
  for (const TaskOperand& operand : operands) {
    const std::uint64_t bytes = device_bytes(elements_of(operand.shape), operand.type);
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "{}{} {} ", text.size() == 0 ? "" : "\n", text_of(operand.use),
                   text_of(operand.memory));
    roles.add_next(operand.use, text);
    fmt::format_to(out, " {} {} <", operand.name, name_of(operand.type));
    add_shape(operand.shape, text);
    fmt::format_to(out, "> {}KB", bytes / 1024);
  }
  return fmt::to_string(text);
}

std::string attributes_of(const Node& node) {
  const auto kernels = node.ints_attribute("kernel_shape");
  if (kernels.empty()) return "";
  return fmt::format("{{Kernels: [{}], Strides: [{}], Borders: [{}], Group: {}, Dilation: [{}]{}}}",
                     fmt::join(kernels, ", "), fmt::join(node.ints_attribute("strides"), ", "),
                     fmt::join(node.ints_attribute("pads"), ", "), node.int_attribute("group", 1),
                     fmt::join(node.ints_attribute("dilations"), ", "),
                     node.op == "ConvTranspose" ? ", Transposed: 1" : "");
}

void TaskWriter::begin_node(std::size_t position, const Node& node) {
  position_ = position;
  node_result_ = context_.plans[position].result;
  for (TensorId output : node.outputs)
    if (node_result_ == TensorId::none) node_result_ = output;
  node_name_ = strings_.intern(node.name);
  node_types_ = strings_.intern(types_of(context_.graph, node, context_.options.convert_to_fp16));
  node_attributes_ = context_.options.op_stats_verbosity >= 2 ? strings_.intern(attributes_of(node))
                                                              : StringId::empty;
}

void TaskWriter::begin_output(TensorId output) {
  node_name_ = strings_.intern(context_.tensor(output).name);
  node_result_ = output;
}

TaskSpec TaskWriter::vector_task(std::uint32_t core, std::string_view kernel, StringId name,
                                 DataType type) {
  TaskSpec spec;
  spec.group = qaic::ThreadGroup::hvx;
  spec.core = core;
  spec.name = name;
  spec.kernel = strings_.intern(kernel);
  spec.types = strings_.intern(name_of(type));
  spec.memory = strings_.intern("TCM");
  spec.attributes = node_attributes_;
  spec.thread_imbalance = 4;
  return spec;
}

TaskSpec TaskWriter::dma_task(std::uint32_t core, const DmaKernel& kernel, StringId name,
                              TensorId id, const Shape& whole, std::uint64_t bytes,
                              DataType packed) {
  TaskSpec spec;
  spec.group = qaic::ThreadGroup::dma_issue;
  spec.core = core;
  spec.name = name;
  spec.kernel = strings_.intern(kernel.name);
  const bool on_chip = kernel.from == kernel.to;
  spec.memory = strings_.intern(on_chip ? "TCM" : "DDR");
  // Copies and the multicasts of what they brought take turns.
  Moved& last = moved_[on_chip ? 1 : 0];
  if (describes() && (last.tensor != id || last.bytes != bytes || last.to != kernel.to ||
                      last.whole != whole || last.packed != packed)) {
    works_on(spec, {operand(TaskOperand::Use::out, kernel.to, id, whole, bytes, packed),
                    operand(TaskOperand::Use::in, kernel.from, id, whole, bytes, packed)});
    last = {id, bytes, kernel.to, whole, packed, spec.shape, spec.operands};
  }
  spec.shape = last.shapes;
  spec.operands = last.operands;
  spec.output_bytes = bytes;
  spec.tensor = id;
  spec.cycles = std::uint64_t(context_.target.dma_issue_cycles);
  return spec;
}

TaskSpec TaskWriter::packing_task(std::uint32_t core, std::string_view kernel, StringId name,
                                  TensorId id, const Shape& whole, const Form& from,
                                  const Form& to) {
  TaskSpec spec = vector_task(core, kernel, name, to.type);
  spec.cycles = vector_cycles(context_.target, std::string(kernel), to.bytes);
  spec.output_bytes = to.bytes;
  spec.vtcm_read = from.bytes;
  spec.tensor = id;
  works_on(
      spec,
      {operand(TaskOperand::Use::out, TaskOperand::Memory::vtcm, id, whole, to.bytes, to.type),
       operand(TaskOperand::Use::in, TaskOperand::Memory::vtcm, id, whole, from.bytes, from.type)});
  return spec;
}

TaskOperand TaskWriter::operand(TaskOperand::Use use, TaskOperand::Memory memory, TensorId id,
                                const Shape& whole, std::uint64_t bytes, DataType packed) const {
  const DataType type = packed != DataType::undefined ? packed : context_.type_of(id);
  return {use, memory, context_.tensor(id).name, type, part_of_shape(whole, bytes, type)};
}

TaskOperand TaskWriter::known_scalar(TensorId id) const {
  return operand(TaskOperand::Use::in, TaskOperand::Memory::none, id, context_.tensor(id).shape,
                 context_.bytes_of(id));
}

void TaskWriter::works_on(TaskSpec& spec, std::span<const TaskOperand> operands) {
  if (!describes()) return;
  if (!std::ranges::equal(operands, described_) || described_.empty()) {
    described_.assign(operands.begin(), operands.end());
    described_shapes_ = strings_.intern(shapes_of(described_));
    described_operands_ = context_.options.op_stats_verbosity >= 2
                              ? strings_.intern(operands_of(described_))
                              : StringId::empty;
  }
  spec.shape = described_shapes_;
  spec.operands = described_operands_;
}

void TaskWriter::refuse_more_tasks() const {
  throw LoweringFailure{
      fmt::format("node '{}' brings the program over {} tasks, more than a statistics descriptor "
                  "can name; use a "
                  "smaller model or batch",
                  strings_[node_name_], max_tasks)};
}

TaskIndex TaskWriter::add(const TaskSpec& spec, std::span<const BufferUse> uses,
                          const TaskNeeds& needs) {
  if (tasks_.tasks().size() >= max_tasks) refuse_more_tasks();
  TaskSpec complete = spec;
  complete.node = std::uint32_t(position_);
  if (complete.tensor == TensorId::none) complete.tensor = node_result_;
  const bool moves = spec.group == qaic::ThreadGroup::dma_issue;
  if (moves && spec.ddr_read == 0) complete.vtcm_read = spec.output_bytes;
  if (spec.ddr_write == 0) complete.vtcm_write = spec.output_bytes;
  needs_ = needs;
  for (const BufferUse& use : uses) tasks_.need(use, needs_);
  const TaskIndex task = tasks_.add(complete, needs_);
  for (const BufferUse& use : uses) tasks_.record(task, use);
  return task;
}

TaskIndex TaskWriter::add_compute(TaskSpec spec, std::span<const BufferId> reads, BufferId writes,
                                  const Parts& parts) {
  if (spec.vtcm_read == 0) spec.vtcm_read = bytes_in(reads);
  uses_.clear();
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const BufferPart part = i < parts.reads.size() ? parts.reads[i] : BufferPart{};
    if (reads[i] != BufferId::none) uses_.push_back(nsp::reads(reads[i], spec.core, part));
  }
  uses_.push_back(nsp::writes(writes, spec.core, parts.writes));
  return add(spec, uses_);
}

std::uint64_t TaskWriter::bytes_in(std::span<const BufferId> buffers) const {
  std::uint64_t bytes = 0;
  for (BufferId buffer : buffers) {
    if (buffer != BufferId::none) bytes += tasks_.buffer_bytes(buffer);
  }
  return bytes;
}

std::vector<BufferUse> TaskWriter::written_everywhere(BufferId buffer) const {
  std::vector<BufferUse> uses;
  uses.reserve(context_.cores);
  for (std::uint32_t core = 0; core < context_.cores; ++core) uses.push_back(writes(buffer, core));
  return uses;
}

std::uint64_t TaskWriter::tiles_for(std::uint64_t bytes) const {
  const std::uint64_t tiles = std::max<std::uint64_t>(1, divide_up(bytes, context_.tile_bytes));
  check_tiles(tiles);
  return tiles;
}

void TaskWriter::check_tiles(std::uint64_t tiles) const {
  if (tiles > max_tasks) refuse_more_tasks();
}

StringId TaskWriter::name_of_tile(std::uint64_t tile, std::uint64_t tiles) {
  if (tiles <= 1) return node_name_;
  return strings_.intern(fmt::format("{}/__{}", strings_[node_name_], tile));
}

}  // namespace npuscope::npu::nsp
