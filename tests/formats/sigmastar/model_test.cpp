#include <gmock/gmock.h>

#include <random>

#include "base/flatbuffer.hpp"
#include "formats/sigmastar/model.hpp"
#include "formats/sigmastar/samples.hpp"

namespace npuscope::sigmastar::model_test {
namespace {

using test_support::make_model;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Model small = make_model({{"CONV_2D", 2},
                                {"CONV_2D", 7},
                                {"MAX_POOL_2D", 3},
                                {"Reshape_Alias", 1},
                                {"GELU", 1},
                                {"Fix2Float", 1}});

Result<Model> read(const std::string& bytes) { return read_model(as_byte_span(bytes), "m.sim"); }

TEST(FixedModel, ReadsWhatWasWritten) {
  const auto model = read(write_model(small));
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->identifier, "SIM2");
  EXPECT_EQ(model->description, "made by a test");
  ASSERT_EQ(model->operators.size(), 6u);
  std::vector<std::string> types;
  for (const ModelOperator& each : model->operators) types.push_back(each.type);
  EXPECT_THAT(types, ElementsAre("CONV_2D", "CONV_2D", "MAX_POOL_2D", "Reshape_Alias", "GELU",
                                 "Fix2Float"));
  EXPECT_TRUE(model->operators[5].is_custom);
  EXPECT_FALSE(model->operators[4].is_custom);  // a type beyond 127, which the old field cannot say
  EXPECT_EQ(model->operators[2].label, "out2");
  EXPECT_EQ(model->tensors[0].name, "images");
  EXPECT_THAT(model->tensors[0].shape, ElementsAre(1, 32, 32, 3));
  EXPECT_EQ(tensor_type_name(model->tensors[1].type), "INT16");
}

TEST(FixedModel, MembersOfAGroupTakeNoLayerOfTheirOwn) {
  const auto model = read(write_model(small));
  ASSERT_TRUE(model);
  std::vector<bool> takes;
  for (const ModelOperator& each : model->operators) takes.push_back(each.takes_layer());
  EXPECT_THAT(takes, ElementsAre(true, false, false, false, true, true));
}

TEST(FixedModel, AGroupWithoutItsLastEndsBeforeTheNextFirstOrAlone) {
  const auto model =
      read(write_model(make_model({{"ADD", 2}, {"ADD", 9}, {"ADD", 1}, {"ADD", 3}})));
  ASSERT_TRUE(model);
  EXPECT_EQ(model->operators[1].fusion, Fusion::member);
  EXPECT_EQ(model->operators[2].fusion, Fusion::alone);
  EXPECT_EQ(model->operators[3].fusion, Fusion::alone);  // the last of no group
}

TEST(FixedModel, WithoutOperators) {
  const auto model = read(write_model(Model{}));
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->operators.size(), 0u);
  EXPECT_EQ(model->subgraphs, 1u);
}

TEST(FixedModel, SaysWhatIsNoModel) {
  EXPECT_THAT(read("").error().message, HasSubstr("m.sim: an empty file"));
  EXPECT_THAT(read("PK\x03\x04 and so on").error().message, HasSubstr("not SIM2 or TFL3"));
}

TEST(FixedModel, AnOperatorOfNoTypeIsAnError) {
  FlatObject each = FlatObject::table();
  each.put_uint32(0, 5);
  FlatObject graph = FlatObject::table();
  graph.put(3, FlatObject::tables({each}));
  FlatObject root = FlatObject::table();
  root.put(2, FlatObject::tables({graph}));
  EXPECT_THAT(read(write_flatbuffer(root, "SIM2")).error().message,
              HasSubstr("operator 0 is of type 5 but the model has 0 types"));
}

// Whatever is cut off: an error, or a model of which nothing read lies outside the bytes.
TEST(FixedModel, CutAnywhere) {
  const std::string whole = write_model(small);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string cut = whole.substr(0, length);  // its own allocation, so that sanitizers see
    const auto model = read(cut);
    if (!model) {
      EXPECT_THAT(model.error().message, HasSubstr("m.sim"));
    }
  }
  EXPECT_FALSE(read(whole.substr(0, whole.size() / 2)));
}

TEST(FixedModel, WildOffsetsAndLengths) {
  const std::string whole = write_model(small);
  std::mt19937 random(1);
  std::size_t errors = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = whole;
    for (int flips = 1 + int(random() % 3); flips > 0; --flips) {
      bytes[8 + random() % (bytes.size() - 8)] = char(random());
    }
    errors += !read(bytes);
  }
  EXPECT_GT(errors, 1'000u);
}

TEST(FixedModel, NamesAndListsHaveAnEnd) {
  Model model = make_model({{"ADD", 1}});
  model.operators[0].type = std::string(5'000'000, 'x');
  model.operators[0].is_custom = true;
  model.description = "long";
  const auto read_back = read(write_model(model));
  ASSERT_TRUE(read_back) << read_back.error().message;
  EXPECT_EQ(read_back->operators[0].type.size(), 256u);
  FlatObject graph = FlatObject::table();
  graph.put(3, FlatObject::tables(std::vector<FlatObject>(300'000, FlatObject::table())));
  FlatObject root = FlatObject::table();
  root.put(2, FlatObject::tables({graph}));
  EXPECT_THAT(read(write_flatbuffer(root, "SIM2")).error().message,
              HasSubstr("300000 operators, more than any model"));
}

// Many tables that share one long vector would cost count x length.
TEST(FixedModel, VectorsThatLieOverOneAnotherAreRefused) {
  FlatObject each = FlatObject::table();
  each.put(1, FlatObject::int32s(std::vector<std::int32_t>(1000, 7)));
  std::vector<FlatObject> tables(1000, FlatObject::table());
  tables[0] = each;
  FlatObject root = FlatObject::table();
  root.put(0, FlatObject::tables(tables));
  std::string bytes = write_flatbuffer(root, "SIM2");
  Flatbuffer honest(as_byte_span(bytes));
  const auto rows = honest.root().tables(0);
  ASSERT_EQ(rows.size(), 1000u);
  Flatbuffer forged(as_byte_span(bytes));
  std::uint64_t read = 0;
  for (int round = 0; round < 1000; ++round) {
    for (const FlatTable& table : forged.root().tables(0)) read += table.scalars<int>(1).size();
  }
  EXPECT_TRUE(forged.exhausted());
  EXPECT_LT(read * 4, 5 * bytes.size());
}

}  // namespace
}  // namespace npuscope::sigmastar::model_test
