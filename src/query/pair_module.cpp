// Tables of several values for each span: its arguments, and its numbers out of columns. Their rows
// are numbered by two: the span and the place, the column and the span.
#include <fmt/format.h>

#include <string>

#include "query/module.hpp"
#include "query/sqlite_values.hpp"

namespace npuscope::query {
namespace pair_module {

enum : int { span_column, key_column, value_column };

struct Place {
  std::uint64_t outer = 0;
  std::uint64_t inner = 0;
};

// Both ends of either number, as far as a query says; inner ends where the table does.
struct Bounds {
  std::uint64_t outer_begin = 0;
  std::uint64_t outer_end = 0;
  std::uint64_t inner_begin = 0;
  std::uint64_t inner_end = std::numeric_limits<std::uint64_t>::max();
  std::uint32_t key = no_key;  // only this one
};

// Outer: spans; inner: the places of their arguments.
struct ArgumentPairs {
  static std::uint64_t outer_count(const Source& source) {
    return source.argument_keys().empty() ? 0 : source.profile.spans.size();
  }
  static std::uint64_t inner_count(const Source& source, std::uint64_t outer) {
    return source.profile.spans.arguments.count(outer);
  }
  static std::uint32_t key(const Source& source, Place at) {
    return source.keys_of_shape(source.profile.spans.arguments.shape(at.outer))[at.inner];
  }
  static bool exists(const Source& source, Place at, std::uint32_t wanted) {
    return wanted == no_key || key(source, at) == wanted;
  }
  static std::uint64_t span(Place at) { return at.outer; }
  static void only_span(Bounds& bounds, std::uint32_t span) { only_outer(bounds, span); }
  static void only_key(Bounds& bounds, std::uint32_t wanted) { bounds.key = wanted; }
  static void only_outer(Bounds& bounds, std::uint32_t outer) {
    bounds.outer_begin = std::min<std::uint64_t>(outer, bounds.outer_end);
    bounds.outer_end = std::min<std::uint64_t>(bounds.outer_end, std::uint64_t(outer) + 1);
  }
  static void read_value(const Source& source, Place at, Output& out);
};

void ArgumentPairs::read_value(const Source& source, Place at, Output& out) {
  const Argument value = source.profile.spans.arguments.at(at.outer, at.inner);
  if (value.key.type != ArgumentType::unsigned_integer) return add_argument(source, value, out);
  out.copy(fmt::format("{}", value.unsigned_integer()));  // SQLite's integers are signed
}

// Outer: columns; inner: spans.
struct NumberPairs {
  static std::uint64_t outer_count(const Source& source) {
    return source.profile.spans.measures.size();
  }
  static std::uint64_t inner_count(const Source& source, std::uint64_t outer) {
    return source.profile.spans.measures[outer].values.size();
  }
  static std::uint32_t key(const Source&, Place at) { return std::uint32_t(at.outer); }
  static bool exists(const Source& source, Place at, std::uint32_t) {
    return source.profile.spans.measures[at.outer].values[at.inner] != MeasureColumn::missing;
  }
  static std::uint64_t span(Place at) { return at.inner; }
  static void only_span(Bounds& bounds, std::uint32_t span) {
    bounds.inner_begin = span;
    bounds.inner_end = std::uint64_t(span) + 1;
  }
  static void only_key(Bounds& bounds, std::uint32_t wanted) {
    ArgumentPairs::only_outer(bounds, wanted);
  }
  static void read_value(const Source& source, Place at, Output& out) {
    out.number(source.profile.spans.measures[at.outer].values[at.inner]);
  }
};

struct PairTable : sqlite3_vtab {
  const Source* source = nullptr;

  const std::vector<Field>* bind(Tables& tables, std::string_view name) {
    source = &tables.source;
    for (const schema::Table& type : pair_tables()) {
      if (type.name == name) return &type.fields;
    }
    return nullptr;
  }
};

struct PairCursor : sqlite3_vtab_cursor {
  const Source* source = nullptr;
  Bounds bounds;
  Place at;
};

template <class Pairs>
class PairModule {
 public:
  static sqlite3_module make();

 private:
  // To the first row that exists from here on.
  static void settle(PairCursor& cursor);

  static int best_index(sqlite3_vtab* table, sqlite3_index_info* info);
  static int filter(sqlite3_vtab_cursor* cursor, int plan, const char*, int,
                    sqlite3_value** arguments);
  static int column(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int number);
};

template <class Pairs>
void PairModule<Pairs>::settle(PairCursor& cursor) {
  const Source& source = *cursor.source;
  for (; cursor.at.outer < cursor.bounds.outer_end; ++cursor.at.outer) {
    const std::uint64_t end =
        std::min(cursor.bounds.inner_end, Pairs::inner_count(source, cursor.at.outer));
    for (; cursor.at.inner < end; ++cursor.at.inner) {
      if (Pairs::exists(source, cursor.at, cursor.bounds.key)) return;
    }
    cursor.at.inner = cursor.bounds.inner_begin;
  }
}

// Plan: bit 0, the span is given; bit 1, the key is.
template <class Pairs>
int PairModule<Pairs>::best_index(sqlite3_vtab* table, sqlite3_index_info* info) {
  return guarded([&] {
    const Source& source = *static_cast<PairTable*>(table)->source;
    int given[2] = {-1, -1};
    for (int i = 0; i < info->nConstraint; ++i) {
      const auto& constraint = info->aConstraint[i];
      const bool is_equal = constraint.usable && constraint.op == SQLITE_INDEX_CONSTRAINT_EQ;
      if (is_equal && (constraint.iColumn == span_column || constraint.iColumn == key_column)) {
        given[constraint.iColumn] = i;
      }
    }
    int arguments = 0;
    double rows = double(Pairs::outer_count(source));
    rows *= rows > 0 ? 1 + double(Pairs::inner_count(source, 0)) : 0;
    for (const int which : {0, 1}) {
      if (given[which] < 0) continue;
      info->aConstraintUsage[given[which]].argvIndex = ++arguments;
      info->idxNum |= 1 << which;
      rows /= which == 0 ? double(source.profile.spans.size() + 1) : 4;
    }
    info->estimatedRows = sqlite3_int64(rows) + 1;
    info->estimatedCost = rows + 10;
    return SQLITE_OK;
  });
}

template <class Pairs>
int PairModule<Pairs>::filter(sqlite3_vtab_cursor* base, int plan, const char*, int,
                              sqlite3_value** arguments) {
  return guarded([&] {
    auto& cursor = *static_cast<PairCursor*>(base);
    cursor.bounds = {};
    cursor.bounds.outer_end = Pairs::outer_count(*cursor.source);
    for (const int which : {0, 1}) {
      if ((plan & (1 << which)) == 0) continue;
      const KeyBound bound = key_bound_of({}, *cursor.source, *arguments++);
      if (bound.fit == Fit::none) cursor.bounds.outer_end = 0;
      if (bound.fit != Fit::these) continue;
      which == 0 ? Pairs::only_span(cursor.bounds, bound.key)
                 : Pairs::only_key(cursor.bounds, bound.key);
    }
    cursor.at = {cursor.bounds.outer_begin, cursor.bounds.inner_begin};
    settle(cursor);
    return SQLITE_OK;
  });
}

template <class Pairs>
int PairModule<Pairs>::column(sqlite3_vtab_cursor* base, sqlite3_context* context, int number) {
  const auto& cursor = *static_cast<const PairCursor*>(base);
  return guarded([&] {
    Output out(context);
    switch (number) {
      case span_column: out.number(std::int64_t(Pairs::span(cursor.at))); break;
      case key_column: out.number(Pairs::key(*cursor.source, cursor.at)); break;
      default: Pairs::read_value(*cursor.source, cursor.at, out); break;
    }
    return SQLITE_OK;
  });
}

int open(sqlite3_vtab* table, sqlite3_vtab_cursor** cursor) {
  return guarded([&] {
    auto made = std::make_unique<PairCursor>();
    made->source = static_cast<PairTable*>(table)->source;
    *cursor = made.release();
    return SQLITE_OK;
  });
}

int close(sqlite3_vtab_cursor* cursor) {
  delete static_cast<PairCursor*>(cursor);
  return SQLITE_OK;
}

int eof(sqlite3_vtab_cursor* base) {
  const auto& cursor = *static_cast<const PairCursor*>(base);
  return cursor.at.outer >= cursor.bounds.outer_end;
}

int rowid(sqlite3_vtab_cursor* base, sqlite3_int64* number) {
  const Place at = static_cast<const PairCursor*>(base)->at;
  *number = sqlite3_int64((at.outer << 32) | at.inner);
  return SQLITE_OK;
}

template <class Pairs>
sqlite3_module PairModule<Pairs>::make() {
  sqlite3_module module{};
  module.iVersion = 1;
  Connecting<PairTable>::add_to(module);
  module.xBestIndex = best_index;
  module.xOpen = open;
  module.xClose = close;
  module.xFilter = filter;
  module.xNext = [](sqlite3_vtab_cursor* cursor) {
    ++static_cast<PairCursor*>(cursor)->at.inner;
    return guarded([&] {
      settle(*static_cast<PairCursor*>(cursor));
      return SQLITE_OK;
    });
  };
  module.xEof = eof;
  module.xColumn = column;
  module.xRowid = rowid;
  return module;
}

}  // namespace pair_module

const char* pair_module_of(std::string_view table) {
  return table == "arguments" ? argument_module_name : number_module_name;
}

int add_pair_modules(sqlite3* database, TablesBySchema& tables) {
  static const sqlite3_module arguments =
      pair_module::PairModule<pair_module::ArgumentPairs>::make();
  static const sqlite3_module numbers = pair_module::PairModule<pair_module::NumberPairs>::make();
  const int added = sqlite3_create_module(database, argument_module_name, &arguments, &tables);
  if (added != SQLITE_OK) return added;
  return sqlite3_create_module(database, number_module_name, &numbers, &tables);
}

}  // namespace npuscope::query
