// How a compiled network looks to a tool that draws its execution as ops and tensors: npuscope's
// own segment of a QPC ("npuscope.schematic.bin"), beside the program whose tasks it explains. The
// vendor's compiler for the HTP keeps the like in <graph>_schematic.bin, a closed format.
//
//   op 0    q::*InputSlice                   of Input      -> buffer 0
//   op 1    q::ConvLayer.opt.weights_to_vtcm of MatMul_0   reads op 9 ($Const)  -> buffer 1
//   op 2    q::ConvLayer.fp16.s1.tcm         of MatMul_0   reads ops 0, 1 -> buffer 2
//   …
//   op 9    $Const                           of MatMul_0
//
// The first ops are the program's tasks, in their order; after them come ops that do not execute.
// docs/formats/program.md has the byte table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "npuscope/base/files.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::qaic {

enum class SchematicRole : std::uint32_t {
  compute,   // on HVX or the HMX, as its task's queue says
  dma,       // moves data; another op records that it is complete
  spill,     // moves data out of VTCM and back in; records itself that it is complete
  sync,      // keeps the host and the device in step
  view,      // renames bytes: not executed
  constant,  // not executed
};

struct SchematicNode {  // an operator of the model, or "Input", "Output", "SystemService"
  std::uint32_t id = 0;
  std::uint32_t name = 0;  // in Schematic::texts
  std::uint32_t type = 0;
};

struct SchematicOp {
  std::uint32_t type = 0;       // in Schematic::texts
  std::uint32_t node = 0;       // in Schematic::nodes
  std::uint32_t role = 0;       // SchematicRole
  std::uint32_t data_type = 0;  // QNN_DATATYPE_ of the tensor it makes; 0: it makes none
  std::uint32_t dims_begin = 0;
  std::uint32_t dims_count = 0;
  std::uint32_t input_begin = 0;  // in Schematic::inputs: ops that make what it reads
  std::uint32_t input_count = 0;
  std::uint32_t buffer_begin = 0;  // in Schematic::op_buffers: VTCM buffers that it uses
  std::uint32_t buffer_count = 0;
  std::uint64_t vtcm_read = 0;  // bytes
  std::uint64_t vtcm_write = 0;
};
static_assert(sizeof(SchematicOp) == 56);

// What the integers of an op's tensor stand for: real = (integer - zero_offset) * step.
struct SchematicScale {
  std::uint32_t op = 0;  // in Schematic::ops
  float step = 1;        // finite, above 0
  std::int32_t zero_offset = 0;
};

struct Schematic {
  std::uint64_t program_fingerprint = 0;
  std::vector<std::string> texts;
  std::vector<SchematicNode> nodes;
  std::vector<SchematicOp> ops;
  std::vector<std::int64_t> dims;
  std::vector<std::uint32_t> inputs;
  std::vector<std::uint32_t> op_buffers;
  std::vector<std::uint64_t> buffers;  // bytes of each
  std::vector<SchematicScale> scales;  // by op, ascending; of quantised tensors only
};

std::vector<std::byte> write_schematic(const Schematic& schematic);

// Refuses (input error) a schematic whose indices point outside its tables. The fingerprint tells
// which program it is of.
Result<Schematic> read_schematic(ByteSpan bytes, std::string name);

}  // namespace npuscope::qaic
