#include "formats/qaic/qpc/schematic.hpp"

#include <gtest/gtest.h>

#include "formats/qaic/damage.hpp"

namespace npuscope::qaic::schematic_test {
namespace {

// A constant that a product reads, whose result a view renames.
Schematic sample() {
  Schematic schematic;
  schematic.program_fingerprint = 0x1234'5678'9abc'def0;
  schematic.texts = {"q::ConvLayer_s1.opt", "$Const", "", "fc", "FullyConnected", "q::Reshape"};
  schematic.nodes = {{18, 3, 4}, {3, 2, 2}};
  SchematicOp product;
  product.dims_count = 4;
  product.data_type = 0x0408;
  product.input_count = 1;
  product.buffer_begin = 1;
  product.buffer_count = 1;
  product.vtcm_read = 1 << 20;
  product.vtcm_write = 64;
  SchematicOp constant;
  constant.type = 1;
  constant.role = std::uint32_t(SchematicRole::constant);
  SchematicOp view;
  view.type = 5;
  view.node = 1;
  view.role = std::uint32_t(SchematicRole::view);
  view.input_begin = 1;
  view.input_count = 1;
  schematic.ops = {product, constant, view};
  schematic.dims = {1, 1, 8, 8};
  schematic.inputs = {1, 0};
  schematic.op_buffers = {0, 1};
  schematic.buffers = {4096, 128};
  schematic.scales = {{0, 0.5F, 128}, {2, 0.25F, -3}};
  return schematic;
}

void expect_equal(const Schematic& read, const Schematic& written) {
  EXPECT_EQ(read.program_fingerprint, written.program_fingerprint);
  EXPECT_EQ(read.texts, written.texts);
  EXPECT_EQ(read.dims, written.dims);
  EXPECT_EQ(read.inputs, written.inputs);
  EXPECT_EQ(read.op_buffers, written.op_buffers);
  EXPECT_EQ(read.buffers, written.buffers);
  ASSERT_EQ(read.scales.size(), written.scales.size());
  for (std::size_t i = 0; i < read.scales.size(); ++i) {
    EXPECT_EQ(read.scales[i].op, written.scales[i].op);
    EXPECT_EQ(read.scales[i].step, written.scales[i].step);
    EXPECT_EQ(read.scales[i].zero_offset, written.scales[i].zero_offset);
  }
  EXPECT_EQ(write_schematic(read), write_schematic(written));
}

TEST(Schematic, ReadsBackAsItWasWritten) {
  for (const Schematic& schematic : {sample(), Schematic{}}) {
    const auto read = read_schematic(write_schematic(schematic), "schematic");
    ASSERT_TRUE(read) << read.error().message;
    expect_equal(*read, schematic);
  }
}

TEST(Schematic, IndicesOutsideTheirTablesAreRefused) {
  const auto problem = [](auto change) {
    Schematic schematic = sample();
    change(schematic);
    const auto read = read_schematic(write_schematic(schematic), "schematic");
    return read ? std::string("none") : read.error().message;
  };
  const std::string op =
      "schematic: op 0 of the schematic points outside its tables; compile the model again";
  EXPECT_EQ(problem([](Schematic&) {}), "none");
  EXPECT_EQ(problem([](Schematic& it) { it.ops[0].type = 6; }), op);
  EXPECT_EQ(problem([](Schematic& it) { it.ops[0].node = 2; }), op);
  EXPECT_EQ(problem([](Schematic& it) { it.ops[0].role = 6; }), op);
  EXPECT_EQ(problem([](Schematic& it) { it.ops[0].dims_count = 5; }), op);
  EXPECT_EQ(problem([](Schematic& it) { it.ops[0].input_begin = ~0u; }), op);
  EXPECT_EQ(problem([](Schematic& it) { it.ops[0].buffer_count = ~0u; }), op);
  EXPECT_EQ(problem([](Schematic& it) { it.ops[2].input_begin = 0; }), "none");
  EXPECT_EQ(problem([](Schematic& it) { it.ops[1].input_count = 1; }),
            "schematic: ops of the schematic share entries of its tables; compile the model again");
  EXPECT_EQ(problem([](Schematic& it) { it.scales[1].op = 3; }),
            "schematic: entry 1 of the schematic's scales points outside its tables; compile the "
            "model again");
  EXPECT_EQ(
      problem([](Schematic& it) { it.scales[0].step = 0; }),
      "schematic: scale 0 of the schematic is 0 of op 0; it must be above 0 and of a later op "
      "than the one before; compile the model again");
  EXPECT_EQ(
      problem([](Schematic& it) { it.scales[1].op = 0; }),
      "schematic: scale 1 of the schematic is 0.25 of op 0; it must be above 0 and of a later "
      "op than the one before; compile the model again");
  EXPECT_EQ(problem([](Schematic& it) { it.inputs[1] = 3; }),
            "schematic: entry 1 of the schematic's inputs points outside its tables; compile the "
            "model again");
  EXPECT_EQ(problem([](Schematic& it) { it.op_buffers[0] = 2; }),
            "schematic: entry 0 of the schematic's buffers points outside its tables; compile the "
            "model again");
  EXPECT_EQ(problem([](Schematic& it) { it.nodes[1].name = 6; }),
            "schematic: entry 1 of the schematic's nodes points outside its tables; compile the "
            "model again");
}

TEST(Schematic, DamagedBytesGiveAnErrorOrASoundSchematic) {
  const auto whole = write_schematic(sample());
  const auto check = [](const std::vector<std::byte>& bytes, std::size_t) {
    const auto read = read_schematic(bytes, "schematic");
    if (!read) {
      EXPECT_FALSE(read.error().message.empty());
      return;
    }
    for (const SchematicOp& op : read->ops) {
      ASSERT_LT(op.type, read->texts.size());
      ASSERT_LE(std::size_t{op.input_begin} + op.input_count, read->inputs.size());
    }
  };
  test::for_each_truncation(whole, check);
  test::for_each_damaged_byte(whole, check);
}

}  // namespace
}  // namespace npuscope::qaic::schematic_test
