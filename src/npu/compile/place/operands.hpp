// Inputs and outputs of the node at hand: brings each where its tasks want it, and lets go of it
// afterwards.
//
//   Operand x = operands.prepare(node.inputs[0], needed, Layout::d32);
//   NodeResult y = operands.make_result(node.outputs[0], partition, Layout::d32);
//   ...                                          // tasks that read x.buffer and write y.buffer
//   operands.finish(x);
//   operands.keep_result(y);
#pragma once

#include "npu/compile/place/constants.hpp"
#include "npu/compile/place/transfers.hpp"

namespace npuscope::npu {

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

  // `movement`: what a constant's loading counts as.
  Operand prepare(TensorId tensor, const Partition& needed, Layout layout,
                  Movement movement = Movement::constant);
  void finish(Operand& operand);

  // A result with its storage, pinned, but not placed yet.
  NodeResult make_result(TensorId tensor, const Partition& partition, Layout layout);
  // Resident where it fits and there is room; otherwise in DDR, written tile by tile.
  void place_result(NodeResult& result);
  void keep_result(const NodeResult& result);

  // So many bytes of an operand that lies in VTCM, tiles of it included.
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

}  // namespace npuscope::npu
