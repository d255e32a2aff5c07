#include <algorithm>

#include "base/try.hpp"
#include "jobs/export/export.hpp"
#include "jobs/export/row_progress.hpp"
#include "npuscope/base/files.hpp"
#include "profile/csv_output.hpp"
#include "profile/schema.hpp"

namespace npuscope::jobs {
namespace {

constexpr std::size_t max_argument_columns = 200;

// What the spans carry beside their fields: their numbers and arguments, a column each.
class SpanColumns {
 public:
  SpanColumns(const schema::Source& source, Losses& losses)
      : source_(source), profile_(source.profile) {
    if (profile_.spans.arguments.size() == profile_.spans.size()) find_arguments(losses);
  }

  void header(Csv& csv) const {
    for (const MeasureColumn& measure : profile_.spans.measures) {
      csv.text(profile_.text(measure.what));
    }
    for (const StringId name : arguments_) csv.text("arg " + std::string(profile_.text(name)));
  }

  void row(Csv& csv, std::size_t span) const {
    for (const MeasureColumn& measure : profile_.spans.measures) {
      const bool known =
          span < measure.values.size() && measure.values[span] != MeasureColumn::missing;
      known ? csv.number(measure.values[span]) : csv.nothing();
    }
    if (arguments_.empty()) return;
    const ArgumentRow values = profile_.spans.arguments.row(span);
    const ArgumentShape& keys = profile_.spans.arguments.shapes[values.shape()];
    for (const std::uint32_t place : places_[values.shape()]) {
      place < keys.size() ? argument(csv, {keys[place], values.bits(place)}) : csv.nothing();
    }
  }

 private:
  // The keys that rows have, in the order in which they are met.
  void find_arguments(Losses& losses) {
    std::uint64_t left = 0;
    for (const ArgumentShape& shape : profile_.spans.arguments.shapes) {
      for (const ArgumentKey& key : shape) {
        if (std::find(arguments_.begin(), arguments_.end(), key.name) != arguments_.end()) continue;
        if (arguments_.size() < max_argument_columns) {
          arguments_.push_back(key.name);
        } else {
          left += 1;
        }
      }
    }
    losses.add("keys of arguments: a table has 200 columns for them", left);
    for (const ArgumentShape& shape : profile_.spans.arguments.shapes) {
      std::vector<std::uint32_t>& places = places_.emplace_back();
      for (const StringId name : arguments_) {
        const auto key = std::ranges::find(shape, name, &ArgumentKey::name);
        places.push_back(std::uint32_t(key - shape.begin()));
      }
    }
  }

  void argument(Csv& csv, const Argument& value) const {
    if (value.key.type != ArgumentType::boolean) return add_argument(source_, value, csv);
    csv.text(value.boolean() ? "true" : "false");
  }

  const schema::Source& source_;
  const Profile& profile_;
  std::vector<StringId> arguments_;
  std::vector<std::vector<std::uint32_t>> places_;  // by shape: of each of these; its size: none
};

bool is_file(const schema::Table& table) { return table.part != schema::Part::of_spans; }

void add_rows(const schema::Source& source, const schema::Table& table, Losses& losses, Csv& csv,
              RowProgress& progress) {
  std::optional<SpanColumns> carried;
  if (table.name == std::string_view("spans")) carried.emplace(source, losses);
  std::vector<schema::Field> columns;
  for (const schema::Field& field : table.fields) {
    if (field.held_by == schema::HeldBy::query || !field.is_there_in(source.profile)) continue;
    columns.push_back(field);
    csv.text(field.name);
  }
  if (carried) carried->header(csv);
  csv.end_row();
  for (schema::Row row = 0, count = schema::Row(table.rows(source)); row < count; ++row) {
    for (const schema::Field& field : columns) {
      add_cell(source, field, field.get(source, row), csv);
    }
    if (carried) carried->row(csv, row);
    csv.end_row();
    progress.add_row();
  }
}

// How many bytes it has.
Result<std::uint64_t> write_table(const schema::Source& source, const schema::Table& table,
                                  Losses& losses, const std::filesystem::path& path,
                                  RowProgress& progress) {
  TRY_AS(file, AtomicFile::create(path));
  const std::function<void(std::string_view)> sink = [&](std::string_view piece) {
    file->write(piece);
  };
  TextOutput out(sink);
  Csv csv(out);
  add_rows(source, table, losses, csv, progress);
  out.flush();
  TRY(file->commit());
  return file->bytes_written();
}

Result<Exported> write_folder(const schema::Source& source, const std::filesystem::path& folder,
                              const ProgressReport& report) {
  TRY(make_folder(folder));
  TRY(check_writable_folder(folder));
  Exported exported;
  RowProgress progress(report, rows_of_tables(source, is_file));
  for (const schema::Table& table : schema::tables()) {
    if (!is_file(table)) continue;
    const auto path = folder / (std::string(table.name) + ".csv");
    if (table.rows(source) == 0) {  // another profile's table would pass for this one's
      std::error_code unknown;
      std::filesystem::remove(path, unknown);
      continue;
    }
    TRY_AS(written, write_table(source, table, exported.losses, path, progress));
    exported.bytes += *written;
    exported.tables.push_back({path, *written});
  }
  return exported;
}

// One file: what it does not hold is said.
Result<Exported> write_one(const schema::Source& source, const schema::Table& table,
                           const std::filesystem::path& path, const ProgressReport& report) {
  Exported exported;
  RowProgress progress(report, table.rows(source));
  TRY_AS(written, write_table(source, table, exported.losses, path, progress));
  exported.bytes = *written;
  const bool has_spans = source.profile.spans.size() > 0;
  for (const schema::Table& other : schema::tables()) {
    const std::string_view name = other.name;
    const bool is_named_in_spans = has_spans && (name == "units" || name == "ops");
    const bool is_table = other.part == schema::Part::table && name != "clocks";
    if (!is_table || is_named_in_spans || name == table.name) continue;
    exported.losses.add(fmt::format("rows of {} (name a folder to get every table)", name),
                        other.rows(source));
  }
  return exported;
}

}  // namespace

Status make_folder(const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (!failed) return {};
  return output_error("{}: the folder cannot be made ({}); name another", folder.string(),
                      failed.message());
}

std::vector<std::string> csv_file_names() {
  std::vector<std::string> names;
  for (const schema::Table& table : schema::tables()) {
    if (is_file(table)) names.push_back(std::string(table.name) + ".csv");
  }
  return names;
}

Result<Exported> write_csv(const Profile& profile, const std::filesystem::path& path,
                           const ProgressReport& progress) {
  std::error_code unknown;
  const schema::Source source(profile);
  if (!path.has_filename() || std::filesystem::is_directory(path, unknown)) {
    return write_folder(source, path, progress);
  }
  const char* const table = profile.spans.size() > 0 ? "spans" : "measures";
  return write_one(source, schema::table_named(table), path, progress);
}

}  // namespace npuscope::jobs
