#include "columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.hpp"
#include "profile/names.hpp"
#include "report/document/document_value.hpp"
#include "report/query/query_output.hpp"

namespace npuscope::python {
namespace {

using report::Format;
using report::Value;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// What a column owns whose values are its own.
struct Block {
  std::vector<std::uint8_t> bytes, missing;
  std::vector<std::int64_t> integers, offsets;
  std::vector<double> reals;
  std::string text;
};

template <class T>
const T* held(const Value& value) {
  return std::get_if<T>(&value.held());
}

bool is_known(const Value& value) {
  const double* real = held<double>(value);
  return value.known() && (real == nullptr || std::isfinite(*real));
}

struct Holds {
  bool truths = false, integers = false, reals = false, texts = false, lists = false;
  bool text_lists = false, any_missing = false;
};

Holds holds_of(const std::vector<Value>& values) {
  Holds holds;
  for (const Value& value : values) {
    holds.any_missing = holds.any_missing || !is_known(value);
    holds.truths = holds.truths || held<bool>(value) != nullptr;
    holds.integers = holds.integers || held<std::int64_t>(value) != nullptr;
    holds.reals = holds.reals || held<double>(value) != nullptr;
    holds.texts = holds.texts || held<std::string>(value) != nullptr;
    holds.text_lists = holds.text_lists || held<std::vector<std::string>>(value) != nullptr;
    holds.lists = holds.lists || held<std::vector<std::int64_t>>(value) != nullptr;
  }
  return holds;
}

// Whole numbers next to real ones must not change by becoming real.
bool all_fit_doubles(const std::vector<Value>& values) {
  constexpr std::int64_t exact = std::int64_t{1} << 53;
  return std::ranges::all_of(values, [](const Value& value) {
    const std::int64_t* whole = held<std::int64_t>(value);
    return whole == nullptr || (*whole >= -exact && *whole <= exact);
  });
}

Type type_of(const std::vector<Value>& values) {
  const Holds holds = holds_of(values);
  const int sorts = int(holds.truths) + int(holds.integers || holds.reals) + int(holds.texts) +
                    int(holds.lists) + int(holds.text_lists);
  if (sorts > 1) return Type::any;
  if (holds.truths) return Type::boolean;
  if (holds.lists || holds.text_lists) return Type::list;
  if (holds.reals && holds.integers && !all_fit_doubles(values)) return Type::any;
  return Type::float64;
}

double real_of(const Value& value) {
  if (const std::int64_t* whole = held<std::int64_t>(value)) return double(*whole);
  const double* real = held<double>(value);
  return real != nullptr && std::isfinite(*real) ? *real : nan;
}

std::shared_ptr<const Column> fill_lists(Block& block, const std::vector<Value>& values) {
  ColumnBuilder items({.name = "item"});
  std::int64_t count = 0;
  block.offsets.push_back(0);
  for (const Value& value : values) {
    if (const auto* texts = held<std::vector<std::string>>(value)) {
      for (const std::string& text : *texts) items.add(text);
      count += std::int64_t(texts->size());
    } else if (const auto* numbers = held<std::vector<std::int64_t>>(value)) {
      for (const std::int64_t number : *numbers) items.add(number);
      count += std::int64_t(numbers->size());
    }
    block.offsets.push_back(count);
  }
  return std::make_shared<Column>(std::move(items).build());
}

// float64 where a whole number is one by chance: its neighbour's profile has 0.5 there.
bool is_always_real(Format format) {
  switch (format) {
    case Format::number:
    case Format::exact:
    case Format::seconds:
    case Format::bytes_per_second:
    case Format::hertz:
    case Format::share:
    case Format::change:
    case Format::bar: return true;
    default: return false;
  }
}

// As in text where a page has no value at all: the type that the field is made for.
bool is_text(Format format) { return format == Format::name; }

std::string quantity_of(Format format) {
  switch (format) {
    case Format::ticks:
    case Format::seconds: return "time";
    case Format::bytes: return "bytes";
    case Format::bytes_per_second: return "rate";
    case Format::hertz: return "hertz";
    case Format::bar:
    case Format::share:
    case Format::change: return "share";
    case Format::count: return "count";
    case Format::number:
    case Format::exact:
    case Format::numbers:
    case Format::name:
    case Format::names:
    case Format::truth: break;
  }
  return {};
}

std::string unit_of(const Profile* profile, const report::Field& field) {
  switch (field.format) {
    case Format::ticks:
      return profile == nullptr
                 ? "ticks"
                 : report::unit_of(*profile, field.clock.value_or(profile->base_clock));
    case Format::seconds: return "s";
    case Format::bytes: return "bytes";
    case Format::bytes_per_second: return "bytes/s";
    case Format::hertz: return "Hz";
    default: return {};
  }
}

}  // namespace

std::size_t Column::missing_count() const {
  return missing == nullptr ? 0 : std::size_t(std::count(missing, missing + size, 1));
}

void Table::add(Column column) {
  ColumnHead head = column;
  slots_.push_back({std::move(head), {}, std::make_shared<const Column>(std::move(column))});
}

void Table::add(ColumnHead head, Make make) {
  slots_.push_back({std::move(head), std::move(make), nullptr});
}

std::shared_ptr<const Column> Table::column(std::size_t column) const {
  const std::lock_guard lock(*mutex_);
  Slot& slot = slots_[column];
  if (!slot.made) slot.made = std::make_shared<const Column>(slot.make(slot.head));
  return slot.made;
}

Value value_at(const Column& column, std::size_t row) {
  if (column.is_missing(row)) return {};
  const auto at = [&]<class T>(T) { return static_cast<const T*>(column.values)[row]; };
  switch (column.type) {
    case Type::boolean: return at(std::uint8_t{}) != 0;
    case Type::uint8: return at(std::uint8_t{});
    case Type::uint32: return at(std::uint32_t{});
    case Type::int64: return at(std::int64_t{});
    case Type::float64: {
      const double number = at(double{});
      return std::isfinite(number) ? Value(number) : Value();
    }
    case Type::text: {
      const char* text = static_cast<const char*>(column.values);
      return std::string(text + column.offsets[row], text + column.offsets[row + 1]);
    }
    case Type::codes: {
      const std::int32_t code = at(std::int32_t{});
      return code < 0 ? Value() : value_at(*column.items, std::size_t(code));
    }
    case Type::any: return (*column.objects)[row];
    case Type::list: break;
  }
  std::vector<std::string> texts;
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = column.offsets[row]; i < column.offsets[row + 1]; ++i) {
    const Value item = value_at(*column.items, std::size_t(i));
    if (const std::string* text = held<std::string>(item)) texts.push_back(*text);
    if (const std::int64_t* number = held<std::int64_t>(item)) numbers.push_back(*number);
  }
  return column.items->type == Type::text ? Value(std::move(texts)) : Value(std::move(numbers));
}

std::string text_of(const Value& value) {
  if (const std::string* text = held<std::string>(value)) return *text;
  if (const std::int64_t* whole = held<std::int64_t>(value)) return fmt::format("{}", *whole);
  if (const double* real = held<double>(value)) return fmt::format("{}", *real);
  if (const bool* truth = held<bool>(value)) return *truth ? "true" : "false";
  return {};
}

ColumnBuilder::Sort ColumnBuilder::sort_of(const Value& value) {
  if (held<std::int64_t>(value)) return Sort::integers;
  if (held<double>(value)) return Sort::reals;
  return held<std::string>(value) ? Sort::texts : Sort::mixed;
}

void ColumnBuilder::add(Value value) {
  if (sort_ == Sort::mixed) {
    values_.push_back(std::move(value));
    return;
  }
  if (is_known(value) && sort_of(value) != sort_) {
    if (sort_ == Sort::none) {
      begin(sort_of(value));
    } else {
      become_mixed();
    }
  }
  if (sort_ == Sort::mixed) {
    values_.push_back(std::move(value));
  } else {
    append(value);
  }
}

// What came before it is unknown.
void ColumnBuilder::begin(Sort sort) {
  sort_ = sort;
  if (sort == Sort::integers || sort == Sort::texts) integers_.assign(count_, 0);
  if (sort == Sort::reals) reals_.assign(count_, nan);
  if (sort == Sort::mixed) values_.resize(count_);
}

void ColumnBuilder::append(const Value& value) {
  const bool is_missing = !is_known(value);
  ++count_;
  any_missing_ = any_missing_ || is_missing;
  missing_.push_back(is_missing ? 1 : 0);
  if (sort_ == Sort::integers) integers_.push_back(is_missing ? 0 : *held<std::int64_t>(value));
  if (sort_ == Sort::reals) reals_.push_back(is_missing ? nan : *held<double>(value));
  if (sort_ != Sort::texts) return;
  if (!is_missing) text_ += valid_utf8(*held<std::string>(value));
  integers_.push_back(std::int64_t(text_.size()));
}

void ColumnBuilder::become_mixed() {
  for (std::size_t row = 0; row < count_; ++row) {
    if (missing_[row] != 0) {
      values_.emplace_back();
    } else if (sort_ == Sort::integers) {
      values_.emplace_back(integers_[row]);
    } else if (sort_ == Sort::reals) {
      values_.emplace_back(reals_[row]);
    } else {
      const auto begin = std::size_t(row > 0 ? integers_[row - 1] : 0);
      values_.emplace_back(text_.substr(begin, std::size_t(integers_[row]) - begin));
    }
  }
  sort_ = Sort::mixed;
  integers_ = {};
  reals_ = {};
  text_ = {};
  missing_ = {};
}

Column ColumnBuilder::build(bool real) && {
  if (sort_ == Sort::mixed) return build_mixed();
  if (sort_ == Sort::none) begin(Sort::reals);
  Column column{std::move(head_)};
  column.size = count_;
  auto block = std::make_shared<Block>();
  if (any_missing_) block->missing = std::move(missing_);
  if (sort_ == Sort::integers && real) {
    for (std::size_t row = 0; row < count_; ++row) {
      reals_.push_back(any_missing_ && block->missing[row] != 0 ? nan : double(integers_[row]));
    }
    sort_ = Sort::reals;
  }
  if (sort_ == Sort::reals) {  // NaN says what is unknown
    block->reals = std::move(reals_);
    column.type = Type::float64;
    column.values = block->reals.data();
    column.owner = std::move(block);
    return column;
  }
  if (any_missing_) column.missing = block->missing.data();
  if (sort_ == Sort::integers) {
    block->integers = std::move(integers_);
    column.type = Type::int64;
    column.values = block->integers.data();
  } else {
    block->offsets = std::move(integers_);
    block->offsets.insert(block->offsets.begin(), 0);
    block->text = std::move(text_);
    column.type = Type::text;
    column.values = block->text.data();
    column.offsets = block->offsets.data();
  }
  column.owner = std::move(block);
  return column;
}

// Truths, lists, whole and real numbers together, and what fits no column of one type.
Column ColumnBuilder::build_mixed() {
  Column column{std::move(head_)};
  column.type = type_of(values_);
  column.size = values_.size();
  auto block = std::make_shared<Block>();
  const bool any_missing = holds_of(values_).any_missing;
  if (any_missing && column.type != Type::float64) {
    for (const Value& value : values_) block->missing.push_back(is_known(value) ? 0 : 1);
    column.missing = block->missing.data();
  }
  switch (column.type) {
    case Type::boolean:
      for (const Value& value : values_) {
        const bool* truth = held<bool>(value);
        block->bytes.push_back(truth != nullptr && *truth ? 1 : 0);
      }
      column.values = block->bytes.data();
      break;
    case Type::list:
      column.items = fill_lists(*block, values_);
      column.offsets = block->offsets.data();
      break;
    case Type::any:
      column.objects = std::make_shared<const std::vector<Value>>(std::move(values_));
      break;
    default:
      for (const Value& value : values_) block->reals.push_back(real_of(value));
      column.values = block->reals.data();
  }
  column.owner = std::move(block);
  return column;
}

ColumnHead head_of(const Profile* profile, const report::Field& field) {
  ColumnHead head{.name = field.key, .label = field.label};
  head.quantity = quantity_of(field.format);
  head.unit = unit_of(profile, field);
  if (field.kind) head.kind = stable_name(*field.kind);
  if (field.origin) head.origin = stable_name(*field.origin);
  return head;
}

Table table_of(const report::Table& table, const Profile* profile, const std::string& name) {
  Table made(name, table.rows.size());
  for (std::size_t i = 0; i < table.fields.size(); ++i) {
    const report::Field& field = table.fields[i];
    if (field.key.empty()) continue;
    ColumnBuilder builder(head_of(profile, field));
    bool any = false;
    for (const auto& row : table.rows) {
      any = any || row[i].known();
      builder.add(row[i]);
    }
    Column column = std::move(builder).build(is_always_real(field.format));
    if (!any && is_text(field.format)) {  // no value tells that it is of texts
      column.type = Type::text;
      auto block = std::make_shared<Block>();
      block->offsets.assign(column.size + 1, 0);
      block->missing.assign(column.size, 1);
      column.values = block->text.data();
      column.offsets = block->offsets.data();
      column.missing = block->missing.data();
      column.owner = std::move(block);
    }
    made.add(std::move(column));
  }
  return made;
}

void TableSink::columns(const std::vector<std::string>& names) {
  for (const std::string& name : report::distinct_names(names)) {
    builders_.emplace_back(ColumnHead{.name = valid_utf8(name), .label = valid_utf8(name)});
  }
}

bool TableSink::row(std::span<const query::Cell> cells) {
  if (max_rows_ > 0 && rows_ == max_rows_) {
    has_more_ = true;
    return false;
  }
  ++rows_;
  struct Take {
    Value operator()(std::monostate) const { return {}; }
    Value operator()(std::int64_t number) const { return number; }
    Value operator()(double number) const { return number; }
    Value operator()(std::string_view text) const { return valid_utf8(text); }
    Value operator()(ByteSpan bytes) const { return report::hexadecimal(bytes); }
  };
  for (std::size_t i = 0; i < cells.size(); ++i) builders_[i].add(std::visit(Take{}, cells[i]));
  return true;
}

Table TableSink::table() && {
  Table made("query", rows_);
  for (ColumnBuilder& builder : builders_) made.add(std::move(builder).build());
  return made;
}

}  // namespace npuscope::python
