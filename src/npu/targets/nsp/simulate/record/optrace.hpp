// A run of the reference HTP as a QNN optrace set: the first inference op by op, from the records
// that the device wrote and the schematic that the compiler kept, and the phases of every one.
//
//   NodeCycles cycles;
//   options.op_trace = true;
//   options.on_op_trace = [&](const SimulatedInference& inference) {
//     cycles.push_back(node_cycles_of(program, schematic, inference));
//   };
//   auto result = simulate(program, target, options);
//   auto set = make_optrace(program, schematic, target, *result, std::move(cycles));
//   return qnn::optrace::write_optrace_set(*set, "out/chrometrace");
#pragma once

#include "formats/qaic/qpc/program.hpp"
#include "formats/qaic/qpc/schematic.hpp"
#include "formats/qnn/write/write.hpp"
#include "npu/targets/nsp/simulate/simulate.hpp"
#include "npu/targets/nsp/target/target.hpp"

namespace npuscope::npu::nsp {

// Ok when an optrace can be made of the program: an input error that says what is missing.
// `schematic` may be null.
Status check_optrace(const qaic::Program& program, const qaic::Schematic* schematic,
                     const Target& target);

// What the nodes of the schematic took in one inference, summed over threads, from its op records;
// waiting for a transfer counts for the node that it is of.
std::vector<std::uint64_t> node_cycles_of(const qaic::Program& program,
                                          const qaic::Schematic& schematic,
                                          const SimulatedInference& inference);
using NodeCycles = std::vector<std::vector<std::uint64_t>>;  // by inference

// Of the first activation, of all whose inferences `node_cycles` must be, or it may be empty: then
// the set has no calls, and the viewer's text cannot be written. The program must pass
// check_optrace; an input error when the result has no op records.
Result<qnn::optrace::OptraceSet> make_optrace(const qaic::Program& program,
                                              const qaic::Schematic& schematic,
                                              const Target& target, const SimulationResult& result,
                                              NodeCycles node_cycles = {});

}  // namespace npuscope::npu::nsp
