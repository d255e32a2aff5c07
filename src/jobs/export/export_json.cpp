#include <algorithm>
#include <cmath>

#include "base/json_writer.hpp"
#include "base/text_output.hpp"
#include "base/try.hpp"
#include "jobs/export/export.hpp"
#include "jobs/export/row_progress.hpp"
#include "npuscope/base/files.hpp"
#include "profile/schema.hpp"

namespace npuscope::jobs {
namespace {

// A line a column.
constexpr JsonLayout whole{
    .first = "\n", .between = ",\n", .last = "\n", .numbers = JsonNumbers::shortest},
    part{.first = "\n", .between = ",\n"}, column_of_numbers{};

// A profile has 1.3 million rows and more: written as text, never built as a tree.
class ProfileJson {
 public:
  ProfileJson(const Profile& profile, const std::function<void(std::string_view)>& sink,
              const ProgressReport& progress)
      : source_(profile),
        profile_(profile),
        out_(sink),
        json_(out_, whole),
        progress_(progress, cells()) {}

  void write();
  std::uint64_t not_finite() const { return not_finite_; }

  // What a cell is: schema::add_cell().
  void nothing() { json_.null(); }
  void boolean(bool value) { json_.value(value); }
  void number(std::integral auto value) { json_.value(value); }
  void number(double value) {
    not_finite_ += !std::isfinite(value);
    json_.value(value);
  }
  void text(std::string_view value) { json_.value(value); }
  void plain(std::string_view value) { json_.quoted(value); }

 private:
  void cell(const schema::Field& field, std::size_t row) {
    add_cell(source_, field, field.get(source_, schema::Row(row)), *this);
  }
  // "name":[one(0),one(1),…]
  void column(const char* name, std::size_t rows, auto one) {
    json_.key(name);
    json_.begin_array(column_of_numbers);
    for (std::size_t row = 0; row < rows; ++row) {
      one(row);
      progress_.add_row();  // of the column
    }
    json_.end_array();
  }
  // A row's number is its place.
  static bool is_column(const schema::Field& field) {
    return field.held_by == schema::HeldBy::all && !field.is_row_number;
  }

  std::uint64_t cells() const;
  void table(const schema::Table& of);
  void about();
  void arguments();
  void argument(const Argument& value);
  void measures();

  const schema::Source source_;
  const Profile& profile_;
  TextOutput out_;
  JsonWriter<TextOutput> json_;
  std::uint64_t not_finite_ = 0;
  RowProgress progress_;
};

// In columns, which rows are counted in.
std::uint64_t ProfileJson::cells() const {
  std::uint64_t cells = profile_.spans.size() * (2 + profile_.spans.measures.size());
  for (const schema::Table& table : schema::tables()) {
    if (table.part != schema::Part::table) continue;
    cells += table.rows(source_) * std::uint64_t(std::ranges::count_if(table.fields, is_column));
  }
  return cells;
}

void ProfileJson::argument(const Argument& value) {
  if (value.key.type != ArgumentType::json) return add_argument(source_, value, *this);
  json_.raw(profile_.text(value.text()));
}

void ProfileJson::arguments() {
  const Arguments& arguments = profile_.spans.arguments;
  const std::size_t rows = profile_.spans.size();
  if (arguments.size() != rows || rows == 0) return;
  json_.key("arguments");
  json_.begin_object(part);
  column("shapes", arguments.shapes.size(), [&](std::size_t i) {
    json_.array(
        arguments.shapes[i],
        [&](const ArgumentKey& key) {
          json_.begin_array(column_of_numbers);
          text(profile_.text(key.name));
          text(stable_name(key.type));
          json_.end_array();
        },
        column_of_numbers);
  });
  column("shape", rows, [&](std::size_t i) { number(arguments.shape(i)); });
  column("values", rows, [&](std::size_t row) {
    json_.begin_array(column_of_numbers);
    for (std::size_t place = 0; place < arguments.count(row); ++place) {
      argument(arguments.at(row, place));
    }
    json_.end_array();
  });
  json_.end_object();
}

void ProfileJson::measures() {
  const auto& fields = schema::table_named("span_columns").fields;
  const auto& measures = profile_.spans.measures;
  column("measures", measures.size(), [&](std::size_t i) {
    json_.begin_object(part);
    for (const schema::Field& field : fields) {
      if (!is_column(field)) continue;
      json_.key(field.name);
      cell(field, i);
    }
    column("values", measures[i].values.size(), [&](std::size_t row) {
      const std::int64_t value = measures[i].values[row];
      value != MeasureColumn::missing ? number(value) : nothing();
    });
    json_.end_object();
  });
}

void ProfileJson::about() {
  json_.key("provenance");
  json_.begin_object(part);
  const auto& files = profile_.provenance.files;
  column("files", files.size(), [&](std::size_t i) { text(files[i]); });
  for (const schema::Field& fact : std::span(schema::facts()).subspan(1)) {  // version: write()
    json_.key(fact.name);
    cell(fact, 0);
  }
  json_.end_object();
}

void ProfileJson::table(const schema::Table& of) {
  json_.key(of.name);
  json_.begin_object(part);
  const std::size_t rows = of.rows(source_);
  for (const schema::Field& field : of.fields) {
    if (!is_column(field) || !field.is_there_in(profile_)) continue;
    column(field.name, rows, [&](std::size_t row) { cell(field, row); });
  }
  if (of.name == std::string_view("spans")) {
    arguments();
    measures();
  }
  json_.end_object();
}

void ProfileJson::write() {
  json_.begin_object();
  json_.member("npuscope_profile", schema::version);
  about();
  for (const schema::Table& each : schema::tables()) {
    if (each.part == schema::Part::table) table(each);
  }
  json_.end_object();
  out_.add('\n');
  out_.flush();
}

}  // namespace

Result<Exported> write_json(const Profile& profile, const std::filesystem::path& path,
                            const ProgressReport& progress) {
  TRY_AS(file, AtomicFile::create(path));
  const std::function<void(std::string_view)> sink = [&](std::string_view piece) {
    file->write(piece);
  };
  ProfileJson json(profile, sink, progress);
  json.write();
  TRY(file->commit());
  Exported exported{{}, file->bytes_written()};
  exported.losses.add("numbers that are not finite", json.not_finite());
  return exported;
}

}  // namespace npuscope::jobs
