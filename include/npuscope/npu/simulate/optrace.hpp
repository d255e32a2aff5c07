// A run of the reference HTP as a QNN optrace set: the first inference op by op, from the records
// that the device wrote and the schematic that the compiler kept, and the phases of every one.
//
//   options.op_trace = true;
//   auto result = simulate(program, target, options);
//   auto set = make_optrace(program, schematic, target, *result);
//   return qnn::optrace::write_optrace_set(*set, "out/chrometrace");
#pragma once

#include "npuscope/formats/qaic/program.hpp"
#include "npuscope/formats/qaic/schematic.hpp"
#include "npuscope/formats/qnn/write.hpp"
#include "npuscope/npu/simulate/simulate.hpp"
#include "npuscope/npu/target/target.hpp"

namespace npuscope::npu {

// Ok when an optrace can be made of the program: an input error that says what is missing.
// `schematic` may be null.
Status check_optrace(const qaic::Program& program, const qaic::Schematic* schematic,
                     const Target& target);

// Of the first activation. The program must pass check_optrace; an input error when the result has
// no op records.
Result<qnn::optrace::OptraceSet> make_optrace(const qaic::Program& program,
                                              const qaic::Schematic& schematic,
                                              const Target& target, const SimulationResult& result);

}  // namespace npuscope::npu
