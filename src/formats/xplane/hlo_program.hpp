// The ops of a program out of its HLO (HloProto): what a CPU's XSpace has in place of a cost model.
//
//   const HloProgram program = decode_program(proto);
//   program.ops[0].name        // "fusion.3"
//   program.ops[0].category    // "dot fusion": it holds one product
//   program.ops[0].path        // "jit(net)/head/dot_general", of that product
//   program.ops[0].macs        // 1'048'576, from the shapes
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace npuscope::xplane {

struct HloOp {
  std::string name, category, path;
  std::string source;     // "net.py:12"
  bool is_mixed = false;  // a fusion of several operators, of which the path names the last
  double macs = -1;       // of its products; negative: it has none, or shapes do not tell
};

struct HloProgram {
  std::string module;
  std::vector<HloOp> ops;
};

// As far as the message is whole.
HloProgram decode_program(std::string_view proto);

}  // namespace npuscope::xplane
