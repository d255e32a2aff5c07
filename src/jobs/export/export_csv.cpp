#include <algorithm>
#include <array>

#include "jobs/export/export.hpp"
#include "npuscope/base/files.hpp"
#include "profile/csv_output.hpp"
#include "profile/schema.hpp"
#include "profile/schema_cells.hpp"

namespace npuscope::jobs {
namespace {

constexpr std::size_t max_argument_columns = 200;

// What the spans carry beside their fields: their numbers and arguments, a column each.
class SpanColumns {
 public:
  SpanColumns(const Profile& profile, Losses& losses) : profile_(profile) {
    if (profile.spans.arguments.size() == profile.spans.size()) find_arguments(losses);
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
    for (const StringId name : arguments_) {
      const auto value = profile_.spans.arguments.find(span, name);
      value ? argument(csv, *value) : csv.nothing();
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
  }

  void argument(Csv& csv, const Argument& value) const {
    switch (value.key.type) {
      case ArgumentType::null: csv.nothing(); break;
      case ArgumentType::boolean: csv.text(value.boolean() ? "true" : "false"); break;
      case ArgumentType::integer: csv.number(value.integer()); break;
      case ArgumentType::unsigned_integer: csv.number(value.unsigned_integer()); break;
      case ArgumentType::number: csv.number(value.number()); break;
      case ArgumentType::text:
      case ArgumentType::json: csv.text(profile_.text(value.text())); break;
    }
  }

  const Profile& profile_;
  std::vector<StringId> arguments_;
};

template <class Table>
constexpr bool is_file = Table::table.part != schema::Part::of_spans;
template <class Field>
constexpr bool is_column = Field::held_by != schema::HeldBy::query;

template <class Table>
void add_rows(const schema::Source& source, Losses& losses, Csv& csv) {
  constexpr bool is_spans = std::is_same_v<Table, schema::TableOf<schema::spans>>;
  const Profile& profile = source.profile;
  std::optional<SpanColumns> carried;
  if constexpr (is_spans) carried.emplace(profile, losses);
  std::array<bool, Table::field_count> is_there{};
  schema::each_field<Table>([&]<class Field>(Field) {
    is_there[Field::place] = is_column<Field> && Field::is_there(profile);
    if (is_there[Field::place]) csv.text(Field::name);
  });
  if constexpr (is_spans) carried->header(csv);
  csv.end_row();
  for (schema::Row row = 0, count = schema::Row(Table::rows(source)); row < count; ++row) {
    schema::each_field<Table>([&]<class Field>(Field) {
      if constexpr (is_column<Field>) {
        if (is_there[Field::place]) add_cell(source, csv, Field::cell(source, row));
      }
    });
    if constexpr (is_spans) carried->row(csv, row);
    csv.end_row();
  }
}

// How many bytes it has.
template <class Table>
Result<std::uint64_t> write_table(const schema::Source& source, Losses& losses,
                                  const std::filesystem::path& path) {
  auto file = AtomicFile::create(path);
  if (!file) return tl::unexpected(file.error());
  const std::function<void(std::string_view)> sink = [&](std::string_view piece) {
    file->write(piece);
  };
  TextOutput out(sink);
  Csv csv(out);
  add_rows<Table>(source, losses, csv);
  out.flush();
  if (auto written = file->commit(); !written) return tl::unexpected(written.error());
  return file->bytes_written();
}

Result<Exported> write_folder(const schema::Source& source, const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    return output_error("{}: the folder cannot be made ({}); name another", folder.string(),
                        failed.message());
  }
  if (auto usable = check_writable_folder(folder); !usable) return tl::unexpected(usable.error());
  Exported exported;
  Status status;
  schema::each_table([&]<class Table>(Table) {
    if constexpr (is_file<Table>) {
      if (!status) return;
      const auto path = folder / (std::string(Table::table.name) + ".csv");
      if (Table::rows(source) == 0) {  // another profile's table would pass for this one's
        std::filesystem::remove(path, failed);
        return;
      }
      const auto written = write_table<Table>(source, exported.losses, path);
      if (!written) {
        status = tl::unexpected(written.error());
      } else {
        exported.bytes += *written;
        exported.tables.push_back({path, *written});
      }
    }
  });
  if (!status) return tl::unexpected(status.error());
  return exported;
}

// One file: what it does not hold is said.
template <class Table>
Result<Exported> write_one(const schema::Source& source, const std::filesystem::path& path) {
  Exported exported;
  const auto written = write_table<Table>(source, exported.losses, path);
  if (!written) return tl::unexpected(written.error());
  exported.bytes = *written;
  const bool has_spans = source.profile.spans.size() > 0;
  schema::each_table([&]<class Other>(Other) {
    constexpr std::string_view name = Other::table.name;
    const bool is_named_in_spans = has_spans && (name == "units" || name == "ops");
    const bool is_table = Other::table.part == schema::Part::table && name != "clocks";
    if (!is_table || is_named_in_spans || std::is_same_v<Other, Table>) return;
    exported.losses.add(fmt::format("rows of {} (name a folder to get every table)", name),
                        Other::rows(source));
  });
  return exported;
}

}  // namespace

std::vector<std::string> csv_file_names() {
  std::vector<std::string> names;
  schema::each_table([&]<class Table>(Table) {
    if (is_file<Table>) names.push_back(std::string(Table::table.name) + ".csv");
  });
  return names;
}

Result<Exported> write_csv(const Profile& profile, const std::filesystem::path& path) {
  std::error_code unknown;
  const schema::Source source(profile);
  if (!path.has_filename() || std::filesystem::is_directory(path, unknown)) {
    return write_folder(source, path);
  }
  return profile.spans.size() > 0 ? write_one<schema::TableOf<schema::spans>>(source, path)
                                  : write_one<schema::TableOf<schema::measures>>(source, path);
}

}  // namespace npuscope::jobs
