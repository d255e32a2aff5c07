#include "npuscope/base/files.hpp"
#include "profile/schema.hpp"
#include "profile/schema_cells.hpp"
#include "profile/text_output.hpp"
#include "report/export/export.hpp"

namespace npuscope::report {
namespace {

// A profile has 1.3 million rows and more: written as text, never built as a tree.
class ProfileJson {
 public:
  ProfileJson(const Profile& profile, const std::function<void(std::string_view)>& sink)
      : source_(profile), profile_(profile), strings_(profile.strings), out_(sink) {}

  void write();
  std::uint64_t not_finite() const { return not_finite_; }

  // What a cell is (profile/schema_cells.hpp).
  void nothing() { out_.add("null"); }
  void boolean(bool value) { out_.add(value ? "true" : "false"); }
  void number(std::integral auto value) { out_.add_number(value); }
  void number(double value);
  void text(std::string_view value);
  void copy(std::string_view value) { text(value); }
  void interned(StringId id) {
    out_.add('"');
    strings_.add(out_, id);
    out_.add('"');
  }

 private:
  void key(const char* name);
  void cell(const auto& value) { add_cell(source_, *this, value); }

  void open(const char* name);  // "name":{
  void close() { out_.add("}"); }
  // "name":[one(0),one(1),…]
  void column(const char* name, std::size_t rows, auto one);
  // A row's number is its place.
  template <class Field>
  static constexpr bool is_column = Field::held_by == schema::HeldBy::all && !Field::is_row_number;

  template <class Table>
  void table();
  void about();
  void arguments();
  void argument(const Argument& value);
  void measures();

  const schema::Source source_;
  const Profile& profile_;
  JsonStrings strings_;
  TextOutput out_;
  std::string scratch_;
  bool first_ = true;  // in the object being written
  std::uint64_t not_finite_ = 0;
};

void ProfileJson::key(const char* name) {
  out_.add(first_ ? "\n" : ",\n");
  first_ = false;
  out_.add('"');
  out_.add(name);
  out_.add("\":");
}

void ProfileJson::text(std::string_view value) {
  scratch_ = "\"";
  append_json_escaped(scratch_, value);
  scratch_ += '"';
  out_.add(scratch_);
}

void ProfileJson::number(double value) {
  if (std::isfinite(value)) return out_.add_number(value);
  not_finite_ += 1;
  out_.add("null");
}

void ProfileJson::open(const char* name) {
  key(name);
  out_.add('{');
  first_ = true;
}

void ProfileJson::column(const char* name, std::size_t rows, auto one) {
  key(name);
  out_.add('[');
  for (std::size_t row = 0; row < rows; ++row) {
    if (row > 0) out_.add(',');
    one(row);
  }
  out_.add(']');
}

void ProfileJson::argument(const Argument& value) {
  switch (value.key.type) {
    case ArgumentType::null: out_.add("null"); break;
    case ArgumentType::boolean: boolean(value.boolean()); break;
    case ArgumentType::integer: number(value.integer()); break;
    case ArgumentType::unsigned_integer: number(value.unsigned_integer()); break;
    case ArgumentType::number: number(value.number()); break;
    case ArgumentType::text: interned(value.text()); break;
    case ArgumentType::json: out_.add(profile_.text(value.text())); break;
  }
}

void ProfileJson::arguments() {
  const Arguments& arguments = profile_.spans.arguments;
  const std::size_t rows = profile_.spans.size();
  if (arguments.shape.size() != rows || rows == 0) return;
  open("arguments");
  column("shapes", arguments.shapes.size(), [&](std::size_t i) {
    out_.add('[');
    for (std::size_t place = 0; place < arguments.shapes[i].size(); ++place) {
      const ArgumentKey& argument_key = arguments.shapes[i][place];
      out_.add(place > 0 ? ",[" : "[");
      interned(argument_key.name);
      out_.add(',');
      text(stable_name(argument_key.type));
      out_.add(']');
    }
    out_.add(']');
  });
  column("shape", rows, [&](std::size_t i) { number(arguments.shape[i]); });
  column("values", rows, [&](std::size_t row) {
    out_.add('[');
    for (std::size_t place = 0; place < arguments.count(row); ++place) {
      if (place > 0) out_.add(',');
      argument(arguments.at(row, place));
    }
    out_.add(']');
  });
  close();
  first_ = false;
}

void ProfileJson::measures() {
  using Columns = schema::TableOf<schema::span_columns>;
  const auto& measures = profile_.spans.measures;
  column("measures", measures.size(), [&](std::size_t i) {
    out_.add('{');
    first_ = true;
    schema::each_field<Columns>([&]<class Field>(Field) {
      if constexpr (is_column<Field>) {
        key(Field::name);
        cell(Field::cell(source_, schema::Row(i)));
      }
    });
    column("values", measures[i].values.size(), [&](std::size_t row) {
      const std::int64_t value = measures[i].values[row];
      value != MeasureColumn::missing ? out_.add_number(value) : out_.add("null");
    });
    out_.add('}');
  });
}

void ProfileJson::about() {
  open("provenance");
  const auto& files = profile_.provenance.files;
  column("files", files.size(), [&](std::size_t i) { text(files[i]); });
  std::apply(
      [&](const auto& version, const auto&... facts) {
        static_cast<void>(version);  // begins the document
        ((key(facts.name), cell(facts.get(profile_))), ...);
      },
      schema::facts());
  close();
}

template <class Table>
void ProfileJson::table() {
  open(Table::table.name);
  const std::size_t rows = Table::rows(source_);
  schema::each_field<Table>([&]<class Field>(Field) {
    if constexpr (is_column<Field>) {
      if (!Field::is_there(profile_)) return;
      column(Field::name, rows,
             [&](std::size_t row) { cell(Field::cell(source_, schema::Row(row))); });
    }
  });
  if constexpr (std::is_same_v<Table, schema::TableOf<schema::spans>>) {
    arguments();
    measures();
  }
  close();
  first_ = false;
}

void ProfileJson::write() {
  out_.add('{');
  key("npuscope_profile");
  number(schema::version);
  about();
  first_ = false;
  schema::each_table([&]<class Table>(Table) {
    if constexpr (Table::table.part == schema::Part::table) table<Table>();
  });
  out_.add("\n}\n");
  out_.flush();
}

}  // namespace

Result<Exported> write_json(const Profile& profile, const std::filesystem::path& path) {
  auto file = AtomicFile::create(path);
  if (!file) return tl::unexpected(file.error());
  const std::function<void(std::string_view)> sink = [&](std::string_view piece) {
    file->write(piece);
  };
  ProfileJson json(profile, sink);
  json.write();
  if (auto written = file->commit(); !written) return tl::unexpected(written.error());
  Exported exported{{}, file->bytes_written()};
  exported.losses.add("numbers that are not finite", json.not_finite());
  return exported;
}

}  // namespace npuscope::report
