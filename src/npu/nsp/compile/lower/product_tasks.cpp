#include "npu/nsp/compile/lower/product_tasks.hpp"

namespace npuscope::npu::nsp {

void ProductTasks::load_bias(const ProductJob& job, std::vector<Operand>& operands) {
  for (TensorId id : job.plan->fused_constants) {
    Partition needed{context_.tensor(id).shape, replicated, 1};
    const bool along_columns =
        job.by_columns && job.partition.axis >= 0 && context_.tensor(id).shape.size() == 1 &&
        context_.tensor(id).shape[0] == job.partition.shape[std::size_t(job.partition.axis)];
    if (along_columns) needed = {context_.tensor(id).shape, 0, job.partition.unit};
    operands.push_back(place_.operands.prepare(id, needed, Layout::flat, Movement::bias));
  }
}

NodeResult ProductTasks::make_result(const ProductJob& job, Layout layout) {
  const TensorId made = job.chain.nodes.empty() ? job.plan->result : job.chain.result;
  NodeResult result = place_.operands.make_result(made, job.partition, layout);
  place_.operands.place_result(result);
  return result;
}

void ProductTasks::emit(const ProductJob& job, const ProductTile& tile, const NodeResult& result) {
  const BufferId made = place_.transfers.place_tile(result, tile.output_bytes);
  const DataType type = context_.type_of(job.plan->activation);
  std::uint32_t described = context_.cores;  // the latest core whose operands were described
  StringId shape{}, operands{};
  for (std::uint32_t core = 0; core < context_.cores; ++core) {
    if (tile.rows[core] * tile.columns[core] * tile.groups[core] == 0) continue;
    TaskSpec spec = writer_.vector_task(core, "aicconvolutiond32", tile.name, type);
    if (job.on_hmx) {
      spec.group = qaic::ThreadGroup::hmx;
      spec.thread_imbalance = 0;
    }
    spec.types = writer_.node_types();
    const ProductWork work =
        product_work(context_, job, tile.rows[core], tile.columns[core], tile.groups[core]);
    spec.cycles = work.cycles;
    spec.macs = job.on_hmx ? work.macs : 0;
    spec.output_bytes = tile.output_bytes[core];
    if (described < context_.cores && shapes_.alike(job, tile, described, core)) {
      spec.shape = shape;
      spec.operands = operands;
    } else {
      writer_.works_on(spec, shapes_.of(job, tile, core));
      shape = spec.shape;
      operands = spec.operands;
      described = core;
    }
    spec.vtcm_read = tile.read_bytes;
    TaskWriter::Parts parts;
    if (!tile.read_parts.empty()) parts.reads = tile.read_parts[core];
    if (!result.streamed) parts.writes = tile.written;
    writer_.add_compute(spec, tile.reads, made, parts);
  }
  if (result.streamed) store(job, tile, result, made);
}

void ProductTasks::store(const ProductJob& job, const ProductTile& tile, const NodeResult& result,
                         BufferId made) {
  const std::size_t product = writer_.position();
  const bool goes_on = !job.chain.nodes.empty() && tile.whole_depth;
  const CoreShapes shapes = shapes_.results(job, tile);
  if (goes_on) {
    chains_.emit_tile(job.chain, {tile.index, tile.tiles, made, {}, tile.output_bytes, shapes});
  }
  place_.transfers.store_result_tile(result.storage, made, tile.output_bytes, shapes);
  place_.residency.release(made);
  if (goes_on) writer_.begin_node(product, *job.node);
}

}  // namespace npuscope::npu::nsp
