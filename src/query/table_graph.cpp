// The compiled graph.
#include "query/columns.hpp"
#include "query/tables.hpp"

namespace npuscope::query {
namespace {

template <auto member>
TableColumn op_text_column(const char* name, const char* meaning) {
  return known_column<&Profile::ops, member>(name, meaning);
}

TableType ops_table() {
  return {
      "ops",
      "an operation of the compiled graph",
      {
          row_column("its number"),
          name_column<&Profile::ops, &Op::name>("name", "path in the model graph"),
          op_text_column<&Op::kind>("kind", "kernel; in a generic trace the category"),
          op_text_column<&Op::node>("node", "the model's operator that it is part of"),
          op_text_column<&Op::node_kind>("node_kind", "what that operator is"),
          enum_column<[](const Source& s, Row r) { return s.profile.ops[r].engine; }>(
              "engine", "the hardware it uses, where the trace says so apart from its unit"),
          op_text_column<&Op::memory>("memory", "TCM, DDR"),
          op_text_column<&Op::types>("types", "distinct element types of its operands"),
          op_text_column<&Op::shape>("shape", "of its output"),
          op_text_column<&Op::attributes>("attributes", "as the file has them"),
          op_text_column<&Op::operands>("operands", "one a line"),
          integer_column<[](const Source& s, Row r) { return s.profile.ops[r].output.value; }>(
              "output_bytes", "size of its output"),
          integer_column<[](const Source& s, Row r) {
            return std::int64_t(s.profile.ops[r].core);
          }>("core", "core that it is compiled for"),
          integer_column<[](const Source& s, Row r) {
            return std::int64_t(s.profile.ops[r].group);
          }>("thread_group", "thread group within the core"),
          integer_column<[](const Source& s, Row r) {
            return std::int64_t(s.profile.ops[r].position);
          }>("position", "place in the group's queue"),
          integer_column<[](const Source& s, Row r) { return std::int64_t(s.profile.ops[r].id); }>(
              "vendor_id", "the number that the vendor's files know it by; 0: none"),
      },
      rows_of<&Profile::ops>};
}

TableType edges_table() {
  return {"edges",
          "a dependency between ops",
          {
              id_column<[](const Source& s, Row r) { return index_of(s.profile.edges[r].from); }>(
                  "from_op", "ops.id of the producer"),
              id_column<[](const Source& s, Row r) { return index_of(s.profile.edges[r].to); }>(
                  "to_op", "ops.id of the consumer"),
              enum_column<[](const Source& s, Row r) { return s.profile.edges[r].kind; }>(
                  "kind", "data, reuse (false: only memory is reused), flow, transfer, order"),
          },
          rows_of<&Profile::edges>};
}

TableType tensors_table() {
  return {
      "tensors",
      "data between ops",
      {
          row_column("its number"),
          name_column<&Profile::tensors, &Tensor::name>("name", "as the file has it"),
          known_column<&Profile::tensors, &Tensor::type>("type", "element type"),
          known_column<&Profile::tensors, &Tensor::shape>("shape", "as the file has it"),
          known_column<&Profile::tensors, &Tensor::memory>("memory", "TCM, DDR"),
          integer_column<[](const Source& s, Row r) { return s.profile.tensors[r].size.value; }>(
              "bytes", "size"),
          integer_column<[](const Source& s, Row r) {
            return std::int64_t(s.profile.tensors[r].is_constant);
          }>("is_constant", "1: a constant"),
          id_column<[](const Source& s, Row r) { return index_of(s.profile.tensors[r].producer); }>(
              "producer_op", "ops.id"),
          integer_column<[](const Source& s, Row r) {
            return std::int64_t(s.profile.tensors[r].id);
          }>("vendor_id", "the number that the vendor's files know it by; 0: none"),
      },
      rows_of<&Profile::tensors>};
}

TableType tensor_uses_table() {
  return {"tensor_uses",
          "an op that reads a tensor",
          {
              id_column<[](const Source& s, Row r) { return s.profile.tensor_uses[r].tensor; }>(
                  "tensor", "tensors.id"),
              id_column<[](const Source& s, Row r) {
                return index_of(s.profile.tensor_uses[r].consumer);
              }>("consumer_op", "ops.id"),
          },
          rows_of<&Profile::tensor_uses>};
}

}  // namespace

std::vector<TableType> graph_tables() {
  return {ops_table(), edges_table(), tensors_table(), tensor_uses_table()};
}

}  // namespace npuscope::query
