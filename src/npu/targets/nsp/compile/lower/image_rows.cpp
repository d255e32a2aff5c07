#include "npu/targets/nsp/compile/lower/image_rows.hpp"

#include <algorithm>

namespace npuscope::npu::nsp {
namespace {

// Rows and images lie one after the other in every layout.
bool is_outer(std::int64_t axis) { return axis == 0 || axis == 2; }

bool is_image(const Tensor& tensor) { return tensor.shape.size() == 4 && !tensor.constant; }

}  // namespace

ImageRows::ImageRows(const CompileContext& context, TaskWriter& writer, Placement& place)
    : LoweringPart(context, writer, place) {
  const Graph& graph = context.graph;
  if (context.target.session || context.options.slices > 1) return;
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (node.op != "Concat" || !node.domain.empty() || node.unknown) continue;
    if (!is_outer(node.int_attribute("axis", -1)) || !is_image(graph[node.outputs[0]])) continue;
    const bool all_made = std::ranges::all_of(node.inputs, [&](TensorId id) {
      const bool output = std::ranges::find(graph.outputs, id) != graph.outputs.end();
      return is_image(graph[id]) && !output && graph[id].consumers.size() == 1 &&
             graph[id].producer != NodeId::none &&
             context.plans[std::uint32_t(graph[id].producer)].op_class != OpClass::view &&
             std::ranges::count(node.inputs, id) == 1;
    });
    if (!all_made) continue;
    for (TensorId id : node.inputs) wholes_of_[id] = NodeId{i};
    wholes_[NodeId{i}].node = NodeId{i};
  }
}

bool ImageRows::lower(const Node& node) {
  if (node.op == "Slice") return lower_slice(node);
  const auto whole = wholes_.find(NodeId(writer_.position()));
  if (node.op != "Concat" || whole == wholes_.end()) return false;
  place_.operands.keep_result(whole->second.result);
  return true;
}

bool ImageRows::lower_slice(const Node& node) {
  if (context_.target.session || context_.options.slices > 1 || !node.has_input(3)) return false;
  const TensorId from = node.inputs[0], made = node.outputs[0];
  const auto& axes = context_.tensor(node.inputs[3]).values;
  const bool one_step = !node.has_input(4) || (context_.tensor(node.inputs[4]).values &&
                                               context_.tensor(node.inputs[4]).values->at(0) == 1);
  if (!axes || axes->size() != 1 || !is_outer(axes->front()) || !one_step) return false;
  if (!is_image(context_.tensor(from)) || !is_image(context_.tensor(made))) return false;
  const StorageId id = place_.storages.of(from);
  const Partition partition = partition_of(made);
  const CoreBytes core_bytes = context_.slices_of(partition, context_.bytes_of(made));
  if (id == no_storage || !context_.fits(core_bytes) || largest(core_bytes) == 0) return false;
  const bool in_vtcm = place_.storages[id].buffer != BufferId::none;
  if (in_vtcm && context_.cores > 1) return false;  // other cores have them
  place_.residency.pin(id);
  NodeResult result = place_.operands.make_result(
      made, partition, in_vtcm ? place_.storages[id].layout : place_.storages[id].ddr_layout);
  result.buffer = place_.residency.allocate(core_bytes, Lifetime::tensor);
  if (in_vtcm) {
    copy(place_.storages[id].buffer, result.buffer, core_bytes, made);
  } else {
    load(id, made, partition, core_bytes, result.buffer);
  }
  place_.operands.keep_result(result);
  place_.residency.use_done(from);
  return true;
}

// Images where every core gets one, else rows.
Partition ImageRows::partition_of(TensorId id) const {
  const Shape& shape = context_.tensor(id).shape;
  if (context_.cores == 1) return {shape, replicated, 1};
  return {shape, shape[0] >= std::int64_t(context_.cores) ? 0 : 2, 1};
}

void ImageRows::load(StorageId id, TensorId made, const Partition& partition,
                     const CoreBytes& core_bytes, BufferId buffer) {
  const Storage& source = place_.storages[id];
  for (std::uint32_t core = 0; core < context_.cores; ++core) {
    if (core_bytes[core] == 0) continue;
    TaskSpec spec = writer_.dma_task(core, copy_to_vtcm, writer_.node_name(), source.views[0],
                                     context_.slice_of(partition, core), core_bytes[core]);
    spec.ddr_read = core_bytes[core];
    spec.tensor = made;
    spec.read_tensor = source.views[0];
    spec.movement = source.movement();
    spec.read_purpose = place_.storages.purpose_of_reading(id);
    place_.ddr.is_read(id, writer_.add(spec, {writes(buffer, core)}, source.ddr_writers));
  }
}

void ImageRows::deliver() {
  const std::size_t at = writer_.position();
  if (wholes_of_.empty() || at >= context_.graph.nodes.size()) return;
  for (TensorId id : present(context_.graph.nodes[at].outputs)) {
    const auto whole = wholes_of_.find(id);
    if (whole != wholes_of_.end()) deliver(id, wholes_.at(whole->second));
  }
}

void ImageRows::begin(Whole& whole, StorageId part) {
  const TensorId id = context_.graph[whole.node].outputs[0];
  const Storage& first = place_.storages[part];
  const Partition all{context_.tensor(id).shape, first.partition.axis, first.partition.unit};
  whole.begun = true;
  whole.result = place_.operands.make_result(id, all, first.layout);
  // Next to the bands that are still to come there is little space.
  const bool stays = largest(whole.result.core_bytes) <= context_.vtcm_bytes / 8;
  if (context_.cores == 1 && stays) {
    place_.operands.place_result(whole.result);
  } else {
    whole.result.streamed = true;
    place_.ddr.begin_spill(whole.result.storage, Spill::Cause::too_large);
  }
}

void ImageRows::deliver(TensorId part, Whole& whole) {
  const StorageId id = place_.storages.of(part);
  place_.residency.pin(id);
  if (!whole.begun) begin(whole, id);
  const NodeResult& result = whole.result;
  const Storage& made = place_.storages[result.storage];
  const Shape& shape = context_.tensor(part).shape;
  const Partition partition{shape, made.partition.axis, made.partition.unit};
  Operand operand = place_.operands.prepare(part, partition, made.layout);
  const std::uint64_t tiles = operand.streamed ? writer_.tiles_for(largest(operand.core_bytes)) : 1;
  for (std::uint64_t tile = 0; tile < tiles; ++tile) {
    const CoreBytes bytes = even_bytes(operand.core_bytes, tile, tiles, context_.type_of(part));
    const BufferId from =
        operand.streamed ? place_.transfers.load_tile(operand, tile, tiles) : operand.buffer;
    if (result.streamed) {
      CoreShapes shapes;
      for (std::uint32_t core = 0; core < context_.cores; ++core)
        shapes.push_back(context_.slice_of(partition, core));
      place_.transfers.store_result_tile(result.storage, from, bytes, shapes);
    } else {
      copy(from, result.buffer, bytes, part);
    }
    if (operand.streamed) place_.residency.release(from);
  }
  place_.operands.finish(operand);
}

void ImageRows::copy(BufferId from, BufferId to, const CoreBytes& core_bytes, TensorId tensor) {
  constexpr const char* kernel = "aiccopysamevtcm";
  TaskSpec spec = writer_.vector_task(0, kernel, writer_.node_name(), context_.type_of(tensor));
  spec.output_bytes = core_bytes[0];
  VectorSize size = vector_size(context_, tensor);
  size.bytes = core_bytes[0];
  set_work(spec, vector_work(context_.target, kernel, size));
  const Shape& shape = context_.tensor(tensor).shape;
  writer_.works_on(spec, {writer_.in_vtcm(TaskOperand::Use::out, tensor, shape, core_bytes[0]),
                          writer_.in_vtcm(TaskOperand::Use::in, tensor, shape, core_bytes[0])});
  spec.types = writer_.node_types();
  writer_.add_compute(spec, std::span(&from, 1), to);
}

}  // namespace npuscope::npu::nsp
