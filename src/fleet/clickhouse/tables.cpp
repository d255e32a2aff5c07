#include "fleet/clickhouse/tables.hpp"

#include <fmt/format.h>
#include <zstd.h>
#include <algorithm>
#include <cstring>
#include <memory>

namespace npuscope::fleet {
namespace {

// checksum (16 bytes), method, bytes of the frame from here on, bytes before compression
constexpr std::size_t checksum_bytes = 16, head_bytes = 9, frame_bytes = 1 << 20;
constexpr char zstd_method = char(0x90);
constexpr int level = 1;

void put_length(char* place, std::size_t value) {
  for (int i = 0; i < 4; ++i) place[i] = char(value >> (8 * i));
}

}  // namespace

std::string clickhouse_type(const schema::Head& column) {
  const char* const type = is_text(column.type)                   ? "String"
                           : column.type == schema::Type::real    ? "Float64"
                           : column.type == schema::Type::boolean ? "UInt8"
                                                                  : "Int64";
  return column.is_nullable ? fmt::format("Nullable({})", type) : type;
}

NativeBlock::NativeBlock(std::size_t columns, std::size_t rows) {
  length(columns);
  length(rows);
}

void NativeBlock::length(std::size_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += char(value | 0x80);
  bytes_ += char(value);
}

void NativeBlock::text(std::string_view value) {
  length(value.size());
  bytes_ += value;
}

template <class T, class Values, class Of>
void NativeBlock::fixed(const Values& values, const Of& of) {
  const std::size_t begin = bytes_.size();
  bytes_.resize(begin + values.size() * sizeof(T));
  char* place = bytes_.data() + begin;
  for (const auto& each : values) {
    const T value = of(each);
    std::memcpy(place, &value, sizeof(T));
    place += sizeof(T);
  }
}

// What is nothing has a value that counts for nothing: 0, an empty text.
void NativeBlock::column(const schema::Head& head, std::span<const schema::Cell> cells) {
  using schema::Cell, schema::Type;
  text(head.name);
  text(clickhouse_type(head));
  if (head.is_nullable) {
    fixed<std::uint8_t>(cells, [](const Cell& cell) { return cell.type == Type::nothing; });
  }
  if (is_text(head.type)) {
    for (const Cell& cell : cells) text(cell.type == Type::nothing ? "" : cell.text());
  } else if (head.type == Type::boolean) {
    fixed<std::uint8_t>(cells, [](const Cell& cell) { return std::uint8_t(cell.integer); });
  } else if (head.type == Type::real) {
    fixed<double>(cells,
                  [](const Cell& cell) { return cell.type == Type::nothing ? 0 : cell.real; });
  } else {
    fixed<std::int64_t>(cells, [](const Cell& cell) { return cell.integer; });
  }
}

void NativeBlock::column(std::string_view name, std::span<const Id> values) {
  text(name);
  text("Int64");
  fixed<Id>(values, [](Id value) { return value; });
}

std::string compressed_frames(std::string_view bytes) {
  const std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                        ZSTD_freeCCtx);
  std::string frames;
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, frame_bytes);
    const std::size_t begin = frames.size();
    frames.resize(begin + checksum_bytes + head_bytes + ZSTD_compressBound(part.size()));
    // The checksum stays zero: the connection has one, and the server is told not to look.
    char* const head = frames.data() + begin + checksum_bytes;
    const std::size_t size = ZSTD_compressCCtx(context.get(), head + head_bytes,
                                               frames.size() - begin - checksum_bytes - head_bytes,
                                               part.data(), part.size(), level);
    head[0] = zstd_method;
    put_length(head + 1, head_bytes + size);
    put_length(head + 5, part.size());
    frames.resize(begin + checksum_bytes + head_bytes + size);
    bytes.remove_prefix(part.size());
  }
  return frames;
}

namespace {

struct StoredColumn {
  std::string name, type;
  bool is_hidden = false;      // not of the schema
  std::string otherwise = {};  // "DEFAULT now()"
};

struct StoredTable {
  std::string name;
  std::string keys;
  Rows sort = Rows::unique;
  bool is_runs = false;
  std::vector<StoredColumn> columns;

  bool is_dimension() const { return sort == Rows::dimension; }

  std::string list(bool typed, bool hidden) const {
    std::string text;
    for (const StoredColumn& column : columns) {
      if (column.is_hidden && !hidden) continue;
      text += fmt::format("{}`{}`", text.empty() ? "" : ", ", column.name);
      if (typed) text += " " + column.type;
      if (typed && hidden && !column.otherwise.empty()) text += " " + column.otherwise;
    }
    return text;
  }
};

const std::vector<StoredTable>& stored_tables() {
  static const std::vector<StoredTable> tables = [] {
    std::vector<StoredTable> made;
    for (const Table& of : schema()) {
      StoredTable table{of.name, "", of.sort, of.name == "runs", {}};
      for (const Column& column : of.columns) {
        if (column.is_key) {
          table.keys += fmt::format("{}`{}`", table.keys.empty() ? "" : ", ", column.name);
        }
        table.columns.push_back({column.name, clickhouse_type(column)});
      }
      if (!table.is_dimension()) table.columns.push_back({"take", "Int64", true});
      if (table.is_runs) {
        table.columns.push_back({"batch", "Int64", true});
        table.columns.push_back({"added", "DateTime", true, "DEFAULT now()"});
      }
      made.push_back(std::move(table));
    }
    return made;
  }();
  return tables;
}

const StoredTable& stored(std::string_view name) {
  return *std::find_if(stored_tables().begin(), stored_tables().end(),
                       [&](const StoredTable& table) { return table.name == name; });
}

class Statements {
 public:
  Statements(const ClickHouseAddress& address, bool is_replicated)
      : address_(address), is_replicated_(is_replicated) {}

  std::vector<std::string> all() {
    add("CREATE DATABASE IF NOT EXISTS `{}`", address_.database);
    make_rows("batches_rows", "`batch` Int64, `committed` DateTime DEFAULT now()", "batch", "");
    distribute("batches_all", "`batch` Int64", "batches_rows");
    for (const StoredTable& table : stored_tables()) {
      make_rows(rows_of(table.name), table.list(true, true), table.keys,
                table.is_dimension() ? "Replacing" : "");
    }
    make_visible();
    add("CREATE VIEW IF NOT EXISTS `{}`.`{}` AS SELECT {} AS version, '{}' AS cluster",
        address_.database, version_view, schema_version, address_.cluster);
    return std::move(statements_);
  }

 private:
  bool has_cluster() const { return !address_.cluster.empty(); }
  template <class... Args>
  void add(fmt::format_string<Args...> text, Args&&... args) {
    statements_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }
  std::string in_database(std::string_view name) const {
    return fmt::format("`{}`.`{}`", address_.database, name);
  }
  void make_rows(std::string_view name, std::string_view columns, std::string_view keys,
                 std::string_view kind) {
    const std::string engine =
        is_replicated_ ? fmt::format(
                             "Replicated{}MergeTree('/clickhouse/tables/{{shard}}/{}/{}', "
                             "'{{replica}}')",
                             kind, address_.database, name)
                       : fmt::format("{}MergeTree()", kind);
    add("CREATE TABLE IF NOT EXISTS {} ({}) ENGINE = {} ORDER BY ({})", in_database(name), columns,
        engine, keys);
  }
  void view(std::string_view name, const std::string& select) {
    add("CREATE VIEW IF NOT EXISTS {} AS {}", in_database(name), select);
  }
  void distribute(std::string_view name, const std::string& columns, std::string_view local) {
    if (!has_cluster()) return;
    add("CREATE TABLE IF NOT EXISTS {} ({}) ENGINE = Distributed('{}', '{}', '{}')",
        in_database(name), columns, address_.cluster, address_.database, local);
  }

  // Of several takes of a run that two writers added at once, the earliest counts.
  void make_visible() {
    const StoredTable& runs = stored("runs");
    const std::string takes = has_cluster() ? "runs_here" : "runs_all";
    const std::string with_take = runs.list(false, false) + ", `take`";
    view(takes, fmt::format("SELECT {} FROM {} WHERE batch IN (SELECT batch FROM {}) ORDER BY id, "
                            "added, take LIMIT 1 BY id",
                            with_take, in_database("runs_rows"),
                            in_database(has_cluster() ? "batches_all" : "batches_rows")));
    distribute("runs_all", runs.list(true, false) + ", `take` Int64", "runs_here");
    if (has_cluster()) {
      distribute("runs", runs.list(true, false), "runs_here");
    } else {
      view("runs",
           fmt::format("SELECT {} FROM {}", runs.list(false, false), in_database("runs_all")));
    }
    for (const StoredTable& table : stored_tables()) {
      if (table.is_runs) continue;
      const std::string columns = table.list(false, false), rows = rows_of(table.name);
      if (table.is_dimension()) {
        distribute(table.name + "_all", table.list(true, true), rows);
        view(table.name, fmt::format("SELECT {} FROM {} LIMIT 1 BY id", columns,
                                     in_database(has_cluster() ? table.name + "_all" : rows)));
        continue;
      }
      const std::string select =
          fmt::format("SELECT {} FROM {} WHERE take IN (SELECT take FROM {})", columns,
                      in_database(rows), in_database(takes));
      view(has_cluster() ? table.name + "_here" : table.name, select);
      distribute(table.name + "_all", table.list(true, true), rows);
      distribute(table.name, table.list(true, false), table.name + "_here");
    }
  }

  const ClickHouseAddress& address_;
  bool is_replicated_;
  std::vector<std::string> statements_;
};

}  // namespace

std::vector<std::string> create_statements(const ClickHouseAddress& address, bool is_replicated) {
  return Statements(address, is_replicated).all();
}

std::string rows_of(std::string_view table) { return std::string(table) + "_rows"; }

bool is_fact(const Table& table) { return table.sort != Rows::dimension && table.name != "runs"; }

std::string inserted_columns(const Table& table) {
  std::string columns;
  for (const StoredColumn& column : stored(table.name).columns) {
    if (column.otherwise.empty()) {
      columns += fmt::format("{}`{}`", columns.empty() ? "" : ", ", column.name);
    }
  }
  return columns;
}

FactJoin clickhouse_join(const ClickHouseAddress& address) {
  return {address.cluster.empty() ? "_rows" : "_all", "runs_all", "take", "take", "PREWHERE", true};
}

std::vector<std::string> stored_columns() {
  std::vector<std::string> all;
  for (const StoredTable& table : stored_tables()) {
    for (const StoredColumn& column : table.columns) {
      all.push_back(fmt::format("{}.{} {}", rows_of(table.name), column.name, column.type));
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace npuscope::fleet
