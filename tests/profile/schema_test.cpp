#include "profile/schema.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace npuscope::schema::schema_test {
namespace {

// A row in most tables, and a text that is not UTF-8.
Profile small_profile() {
  Profile profile;
  const StringId name = profile.strings.intern("MatMul_0");
  profile.provenance.files = {"a\xff.json"};
  profile.provenance.inferences = 3;
  profile.clocks.push_back({.name = name, .kind = ClockKind::timer, .rate = aic_utimer});
  profile.clocks.push_back({.offset_known = true, .offset = -7});
  profile.units.push_back({.engine = Engine::core, .name = name});
  profile.units.push_back({.device = 1, .engine = Engine::hvx, .lane = 2, .parent = UnitId{0}});
  profile.ops.push_back({.name = name, .output = Bytes{64}, .id = ~std::uint64_t{0}});
  profile.edges.push_back({OpId{0}, OpId::none, EdgeKind(200)});
  profile.measures.emplace_back();
  profile.phases.emplace_back();
  profile.tensors.push_back({.name = name, .is_constant = true});
  profile.notes.push_back({Severity::info, "", 0, "m"});
  Spans& spans = profile.spans;
  spans.unit = {UnitId{1}, UnitId::none};
  spans.op = {OpId{0}, OpId::none};
  spans.kind = {SpanKind::op, SpanKind::slice};
  spans.start = {5, std::numeric_limits<std::int64_t>::max()};
  spans.duration = {10, 10};
  return profile;
}

const Field& field_of(const char* table, std::string_view name) {
  return *std::ranges::find(table_named(table).fields, name, &Field::name);
}

// Of a row, as writers get it; NULL as "-".
struct Taken {
  std::string taken;

  void nothing() { taken = "-"; }
  void boolean(bool value) { taken = value ? "true" : "false"; }
  void number(auto value) { taken = std::to_string(value); }
  void text(std::string_view value) { taken = value; }
};
std::string cell_text(const Profile& profile, const char* table, std::string_view name, Row row) {
  const Source source(profile);
  const Field& field = field_of(table, name);
  Taken out;
  add_cell(source, field, field.get(source, row), out);
  return out.taken;
}

TEST(SchemaCells, SayWhatTheirGettersReturn) {
  const Profile profile = small_profile();
  EXPECT_EQ(cell_text(profile, "ops", "name", 0), "MatMul_0");
  EXPECT_EQ(cell_text(profile, "ops", "kind", 0), "-");  // an empty text that is not known
  EXPECT_EQ(cell_text(profile, "ops", "vendor_id", 0), "18446744073709551615");
  EXPECT_EQ(cell_text(profile, "ops", "output_bytes", 0), "64");
  EXPECT_EQ(cell_text(profile, "tensors", "is_constant", 0), "true");
  EXPECT_EQ(cell_text(profile, "units", "id", 1), "1");
  EXPECT_EQ(cell_text(profile, "units", "parent", 0), "-");
  EXPECT_EQ(cell_text(profile, "units", "parent", 1), "0");
  EXPECT_EQ(cell_text(profile, "units", "engine", 0), "core");
  EXPECT_EQ(cell_text(profile, "edges", "to_op", 0), "-");
  EXPECT_EQ(cell_text(profile, "edges", "kind", 0), "unknown");  // that no reader makes
  EXPECT_EQ(cell_text(profile, "spans", "unit_path", 1), "-");
  EXPECT_EQ(cell_text(profile, "spans", "op_name", 0), "MatMul_0");
  EXPECT_EQ(cell_text(profile, "clocks", "hertz", 1), "-");
  EXPECT_EQ(cell_text(profile, "clocks", "offset", 1), "-7");
}

TEST(SchemaCells, ASumBeyond64BitsIsARealNumber) {
  const Profile profile = small_profile();
  const Source source(profile);
  const Field& end = field_of("spans", "end");
  EXPECT_EQ(end.get(source, 0).type, Type::integer);
  EXPECT_EQ(end.get(source, 0).integer, 15);
  EXPECT_EQ(end.get(source, 1).type, Type::real);
  EXPECT_EQ(end.get(source, 1).real, 9223372036854775807.0 + 10);
}

TEST(SchemaCells, ATextThatIsMadeForACellLivesAsLongAsTheSource) {
  const Profile profile = small_profile();
  const Source source(profile);
  const Field &file = field_of("files", "name"), &fact = field_of("profile", "value");
  const std::string_view name = file.get(source, 0).text(), version = fact.get(source, 0).text();
  for (Row row = 0; row < facts().size(); ++row) fact.get(source, row);
  EXPECT_EQ(name, "a\xEF\xBF\xBD.json");
  EXPECT_EQ(version, "2");
  EXPECT_EQ(field_of("notes", "message").get(source, 0).text().data(),
            profile.notes[0].message.data());
}

// What SQL, Parquet and Python rely on: the type is the field's, NULL only where it says so.
TEST(SchemaCells, AreOfTheTypeOfTheirField) {
  const Profile profile = small_profile();
  const Source source(profile);
  for (const Table& table : tables()) {
    for (const Field& field : table.fields) {
      for (Row row = 0; row < table.rows(source); ++row) {
        const Type type = field.get(source, row).type;
        const bool fits = type == field.type || (type == Type::nothing && field.is_nullable) ||
                          (field.type == Type::sum && !is_text(type));
        EXPECT_TRUE(fits) << table.name << "." << field.name << " " << int(type);
      }
    }
  }
}

TEST(SchemaCells, GiveAnotherRecordWhatTheyRead) {
  const Profile profile = small_profile();
  const Source source(profile);
  Profile made;
  made.strings = profile.strings;
  made.clocks.resize(profile.clocks.size());
  made.units.resize(profile.units.size());
  made.ops.resize(profile.ops.size());
  const auto each = [&](const auto& take) {
    for (const char* name : {"clocks", "units", "ops"}) {
      const Table& table = table_named(name);
      for (Row row = 0; row < table.rows(source); ++row) {
        for (const Field& field : table.fields) take(table, field, row);
      }
    }
  };
  each([&](const Table&, const Field& field, Row row) {
    if (field.set != nullptr) field.set(made, row, field.get(source, row));
  });
  const Source read(made);
  each([&](const Table& table, const Field& field, Row row) {
    Taken expected, found;
    add_cell(source, field, field.get(source, row), expected);
    add_cell(read, field, field.get(read, row), found);
    EXPECT_EQ(found.taken, expected.taken) << table.name << "." << field.name;
  });
}

TEST(SchemaTables, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const Table& table : tables()) {
    EXPECT_TRUE(names.insert(table.name).second) << table.name;
    EXPECT_EQ(&table_named(table.name), &table);
    std::set<std::string> columns;
    for (const Field& field : table.fields) {
      EXPECT_TRUE(columns.insert(field.name).second) << table.name << "." << field.name;
      EXPECT_EQ(field.get == nullptr, table.is_several()) << table.name << "." << field.name;
    }
  }
}

}  // namespace
}  // namespace npuscope::schema::schema_test
