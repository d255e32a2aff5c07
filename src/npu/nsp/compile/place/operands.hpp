// Inputs and outputs of the current node: placed before its tasks, released after them.
//
//   Operand x = operands.prepare(node.inputs[0], needed, Layout::d32);
//   NodeResult y = operands.make_result(node.outputs[0], partition, Layout::d32);
//   ...                                          // tasks that read x.buffer and write y.buffer
//   operands.finish(x);
//   operands.keep_result(y);
#pragma once

#include "npu/nsp/compile/place/constants.hpp"
#include "npu/nsp/compile/place/transfers.hpp"

namespace npuscope::npu::nsp {

class Operands {
 public:
  Operands(const CompileContext& context, TaskWriter& writer, Storages& storages, DdrCopies& ddr,
           Residency& residency, Constants& constants, Transfers& transfers)
      : context_(context),
        writer_(writer),
        storages_(storages),
        ddr_(ddr),
        residency_(residency),
        constants_(constants),
        transfers_(transfers) {}

  // Loads, splits and converts it as needed. `movement`: kind of a constant's transfer.
  Operand prepare(TensorId tensor, const Partition& needed, Layout layout,
                  Movement movement = Movement::constant);
  void finish(Operand& operand);

  // With a storage, pinned, without a buffer.
  NodeResult make_result(TensorId tensor, const Partition& partition, Layout layout);
  // In VTCM where it fits; otherwise in DDR, stored tile by tile.
  void place_result(NodeResult& result);
  void keep_result(const NodeResult& result);

  // Text form of so many bytes of it, in VTCM.
  TaskOperand read_of(const Operand& operand, std::uint32_t core, std::uint64_t bytes) const {
    return writer_.operand(TaskOperand::Use::in, TaskOperand::Memory::vtcm, operand.tensor,
                           context_.slice_of(operand.partition, core), bytes);
  }
  CoreShapes shapes_of(const Operand& operand, const CoreBytes& core_bytes) const;

 private:
  Operand prepare_constant(TensorId tensor, const Partition& needed, Layout layout,
                           Movement movement);
  void prepare_beside(Operand& operand);

  const CompileContext& context_;
  TaskWriter& writer_;
  Storages& storages_;
  DdrCopies& ddr_;
  Residency& residency_;
  Constants& constants_;
  Transfers& transfers_;
  std::set<TensorId> finished_;  // operands of the node at finished_at_
  std::size_t finished_at_ = ~std::size_t{0};
};

}  // namespace npuscope::npu::nsp
