#include "formats/xplane/hlo.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <unordered_map>

#include "base/field_reader.hpp"
#include "formats/xplane/fields.hpp"

namespace npuscope::xplane {
namespace {

using Extents = std::vector<std::int64_t>;

struct Instruction {
  std::string_view name, opcode, fusion_kind, path, file;
  std::int64_t line = 0, id = 0;
  Extents extents;
  std::vector<std::int64_t> operands, called;
  Extents contracted;
  std::int64_t kernel_outputs = 0;  // which dimension of a convolution's kernel
};

struct Computation {
  std::int64_t id = 0;
  std::vector<Instruction> instructions;
};

Instruction decode_instruction(std::string_view bytes) {
  Instruction of;
  FieldReader reader(bytes);
  while (reader.next()) {
    switch (reader.tag()) {
      case instruction_field::name: of.name = bytes_of(reader); break;
      case instruction_field::opcode: of.opcode = bytes_of(reader); break;
      case instruction_field::fusion_kind: of.fusion_kind = bytes_of(reader); break;
      case instruction_field::id: of.id = reader.get_int64(); break;
      case instruction_field::operand: append_varints(reader, of.operands); break;
      case instruction_field::called_computation: append_varints(reader, of.called); break;
      case instruction_field::shape: {
        FieldReader shape(bytes_of(reader));
        while (shape.next()) {
          if (shape.tag() == shape_field::dimension) {
            append_varints(shape, of.extents);
          } else {
            shape.skip();
          }
        }
        break;
      }
      case instruction_field::dot_dimensions: {
        FieldReader dot(bytes_of(reader));
        while (dot.next()) {
          if (dot.tag() == dot_field::contracted_of_left) {
            append_varints(dot, of.contracted);
          } else {
            dot.skip();
          }
        }
        break;
      }
      case instruction_field::convolution_dimensions: {
        FieldReader convolution(bytes_of(reader));
        while (convolution.next()) {
          if (convolution.tag_and_type() ==
              varint_field(convolution_field::output_feature_of_kernel)) {
            of.kernel_outputs = convolution.get_int64();
          } else {
            convolution.skip();
          }
        }
        break;
      }
      case instruction_field::metadata: {
        FieldReader metadata(bytes_of(reader));
        while (metadata.next()) {
          switch (metadata.tag_and_type()) {
            case bytes_field(op_metadata_field::op_name): of.path = bytes_of(metadata); break;
            case bytes_field(op_metadata_field::source_file): of.file = bytes_of(metadata); break;
            case varint_field(op_metadata_field::source_line):
              of.line = metadata.get_int64();
              break;
            default: metadata.skip();
          }
        }
        break;
      }
      default: reader.skip();
    }
  }
  return of;
}

Computation decode_computation(std::string_view bytes) {
  Computation computation;
  FieldReader reader(bytes);
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case varint_field(computation_field::id): computation.id = reader.get_int64(); break;
      case bytes_field(computation_field::instruction):
        computation.instructions.push_back(decode_instruction(bytes_of(reader)));
        break;
      default: reader.skip();
    }
  }
  return computation;
}

double elements_of(const Extents& extents) {
  double elements = 1;
  for (const std::int64_t extent : extents) elements *= double(extent);
  return elements;
}

// Each element of the output takes as many multiply-accumulates as are summed up for it.
double macs_of(const Instruction& product,
               const std::unordered_map<std::int64_t, const Extents*>& extents_of) {
  const auto operand = [&](std::size_t place) -> const Extents* {
    if (place >= product.operands.size()) return nullptr;
    const auto found = extents_of.find(product.operands[place]);
    return found == extents_of.end() ? nullptr : found->second;
  };
  double summed = 1;
  if (product.opcode == "dot") {
    const Extents* left = operand(0);
    if (left == nullptr || product.contracted.empty()) return -1;
    for (const std::int64_t dimension : product.contracted) {
      if (std::uint64_t(dimension) >= left->size()) return -1;
      summed *= double((*left)[std::size_t(dimension)]);
    }
  } else {
    const Extents* kernel = operand(1);
    if (kernel == nullptr || std::uint64_t(product.kernel_outputs) >= kernel->size()) return -1;
    const double outputs = double((*kernel)[std::size_t(product.kernel_outputs)]);
    if (!(outputs > 0)) return -1;
    summed = elements_of(*kernel) / outputs;
  }
  const double macs = elements_of(product.extents) * summed;
  return macs >= 0 && macs < 1e18 ? macs : -1;
}

// What a computation has of products, those of fusions that it calls not counted.
struct Products {
  std::uint32_t count = 0;
  std::string_view opcode, path;
  double macs = 0;  // negative: of one at least unknown
};

class ProgramReader {
 public:
  explicit ProgramReader(const std::vector<Computation>& computations)
      : computations_(computations) {
    for (const Computation& each : computations) products_.emplace(each.id, products_in(each));
  }

  std::vector<HloOp> ops() const {
    std::vector<HloOp> ops;
    for (const Computation& computation : computations_) {
      const auto extents = extents_in(computation);
      for (const Instruction& of : computation.instructions) ops.push_back(op_of(of, extents));
    }
    return ops;
  }

 private:
  using ExtentsOf = std::unordered_map<std::int64_t, const Extents*>;

  static ExtentsOf extents_in(const Computation& computation) {
    ExtentsOf extents;
    for (const Instruction& of : computation.instructions) extents.emplace(of.id, &of.extents);
    return extents;
  }

  static bool is_product(const Instruction& of) {
    return of.opcode == "dot" || of.opcode == "convolution";
  }

  static Products products_in(const Computation& computation) {
    Products products;
    ExtentsOf extents;
    for (const Instruction& of : computation.instructions) {
      if (!is_product(of)) continue;
      if (extents.empty()) extents = extents_in(computation);
      const double macs = macs_of(of, extents);
      products.count += 1;
      products.opcode = of.opcode;
      products.path = of.path;
      products.macs = macs < 0 || products.macs < 0 ? -1 : products.macs + macs;
    }
    return products;
  }

  HloOp op_of(const Instruction& of, const ExtentsOf& extents) const {
    HloOp op{std::string(of.name), std::string(of.opcode), std::string(of.path), {}, false, -1};
    if (!of.file.empty()) op.source = fmt::format("{}:{}", of.file, of.line);
    if (is_product(of)) op.macs = macs_of(of, extents);
    if (of.opcode != "fusion") return op;
    Products inside;
    for (const std::int64_t called : of.called) {
      const auto found = products_.find(called);
      if (found != products_.end()) inside = found->second;
    }
    op.is_mixed = inside.count != 1;
    if (inside.count == 1) op.path = inside.path;
    if (inside.count > 0) op.macs = inside.macs;
    op.category = category_of(of, inside);
    return op;
  }

  // "loop fusion", as XLA's own pages say of kLoop; one that holds a product is named after it.
  static std::string category_of(const Instruction& of, const Products& inside) {
    if (inside.count > 0) return fmt::format("{} fusion", inside.opcode);
    std::string_view kind = of.fusion_kind;
    if (kind.size() < 2 || kind.front() != 'k') return "fusion";
    std::string category = fmt::format("{} fusion", kind.substr(1));
    category.front() = char(category.front() | 0x20);
    return category;
  }

  const std::vector<Computation>& computations_;
  std::unordered_map<std::int64_t, Products> products_;
};

}  // namespace

HloProgram decode_program(std::string_view proto) {
  HloProgram program;
  std::vector<Computation> computations;
  try {
    FieldReader hlo(proto);
    while (hlo.next()) {
      if (hlo.tag_and_type() != bytes_field(hlo_field::module)) {
        hlo.skip();
        continue;
      }
      FieldReader module(bytes_of(hlo));
      while (module.next()) {
        switch (module.tag_and_type()) {
          case bytes_field(module_field::name): program.module = bytes_of(module); break;
          case bytes_field(module_field::computation):
            computations.push_back(decode_computation(bytes_of(module)));
            break;
          default: module.skip();
        }
      }
    }
  } catch (const protozero::exception&) {  // what came before stands
  }
  program.ops = ProgramReader(computations).ops();
  return program;
}

}  // namespace npuscope::xplane
