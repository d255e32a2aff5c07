#include "arrow.hpp"

#include <cerrno>
#include <cstring>
#include <exception>

namespace npuscope::python {
namespace {

// What a schema's pointers point into. Children may have been moved out of it.
struct HeldSchema {
  std::string format, name, metadata;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> places;
  ArrowSchema dictionary{};
};

struct HeldArray {
  std::shared_ptr<const Column> column;
  std::vector<std::uint8_t> valid, bits;
  std::vector<const void*> buffers;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> places;
  ArrowArray dictionary{};
};

template <class Arrow>
void release_if_there(Arrow& arrow) {
  if (arrow.release != nullptr) arrow.release(&arrow);
}

template <class Arrow, class Held>
void release(Arrow* arrow) {
  auto* held = static_cast<Held*>(arrow->private_data);
  for (Arrow& child : held->children) release_if_there(child);
  release_if_there(held->dictionary);
  delete held;
  arrow->release = nullptr;
}

void add_text(std::string& out, const std::string& text) {
  const auto size = std::int32_t(text.size());
  char bytes[sizeof size];
  std::memcpy(bytes, &size, sizeof size);
  out.append(bytes, sizeof size).append(text);
}

// Arrow's form of a map: how many, then each key and value with its length before it.
std::string metadata_of(const ColumnHead& head) {
  const std::pair<const char*, const std::string*> all[] = {
      {"label", &head.label}, {"quantity", &head.quantity}, {"unit", &head.unit},
      {"kind", &head.kind},   {"origin", &head.origin},     {"meaning", &head.meaning}};
  std::int32_t count = 0;
  std::string pairs;
  for (const auto& [key, value] : all) {
    if (value->empty()) continue;
    ++count;
    add_text(pairs, key);
    add_text(pairs, *value);
  }
  if (count == 0) return {};
  char bytes[sizeof count];
  std::memcpy(bytes, &count, sizeof count);
  return std::string(bytes, sizeof count) + pairs;
}

const char* format_of(const Column& column) {
  switch (column.type) {
    case Type::boolean: return "b";
    case Type::uint8: return "C";
    case Type::uint32: return "I";
    case Type::int64: return "l";
    case Type::float64: return "g";
    case Type::list: return "+L";
    case Type::codes: return "i";  // of the codes; the dictionary has the texts'
    case Type::any:
    case Type::text: break;
  }
  return "U";
}

// NaN says "unknown" in numpy; Arrow has nulls.
bool is_unknown(const Column& column, std::size_t row) {
  if (column.is_missing(row)) return true;
  if (column.type == Type::float64) {
    const double number = static_cast<const double*>(column.values)[row];
    return number != number;
  }
  if (column.type == Type::codes) return static_cast<const std::int32_t*>(column.values)[row] < 0;
  return false;
}

void set_bit(std::vector<std::uint8_t>& bits, std::size_t i) {
  bits[i / 8] = std::uint8_t(bits[i / 8] | (1u << (i % 8)));
}

std::int64_t make_valid(const Column& column, std::vector<std::uint8_t>& valid) {
  std::int64_t unknown = 0;
  for (std::size_t i = 0; i < column.size; ++i) unknown += is_unknown(column, i);
  if (unknown == 0) return 0;
  valid.assign((column.size + 7) / 8, 0);
  for (std::size_t i = 0; i < column.size; ++i) {
    if (!is_unknown(column, i)) set_bit(valid, i);
  }
  return unknown;
}

HeldSchema* begin(ArrowSchema& out, std::string format, std::string name) {
  auto* held = new HeldSchema{std::move(format), std::move(name), {}, {}, {}, {}};
  out = {held->format.c_str(),
         held->name.c_str(),
         nullptr,
         ARROW_FLAG_NULLABLE,
         0,
         nullptr,
         nullptr,
         release<ArrowSchema, HeldSchema>,
         held};
  return held;
}

void add_children(HeldSchema& held, ArrowSchema& out, std::size_t count) {
  held.children.resize(count);
  for (ArrowSchema& child : held.children) held.places.push_back(&child);
  out.n_children = std::int64_t(count);
  out.children = held.places.data();
}

void add_children(HeldArray& held, ArrowArray& out, std::size_t count) {
  held.children.resize(count);
  for (ArrowArray& child : held.children) held.places.push_back(&child);
  out.n_children = std::int64_t(count);
  out.children = held.places.data();
}

struct HeldStream {
  std::shared_ptr<const Table> table;
  bool is_done = false;
  std::string error;
};

template <class Function>
int attempted(ArrowArrayStream* stream, Function&& function) {
  auto& held = *static_cast<HeldStream*>(stream->private_data);
  try {
    function(held);
    return 0;
  } catch (const std::bad_alloc&) {
    held.error = "not enough memory";
    return ENOMEM;
  } catch (const std::exception& error) {
    held.error = error.what();
    return EINVAL;
  }
}

// Of a column whose cells are of several types: their texts.
std::shared_ptr<const Column> as_texts(const Column& column) {
  ColumnBuilder texts(static_cast<const ColumnHead&>(column));
  for (std::size_t row = 0; row < column.size; ++row) {
    const report::Value value = value_at(column, row);
    texts.add(value.known() ? report::Value(text_of(value)) : value);
  }
  return std::make_shared<const Column>(std::move(texts).build());
}

}  // namespace

void export_schema(const Column& column, ArrowSchema& out) {
  HeldSchema* held = begin(out, format_of(column), column.name);
  held->metadata = metadata_of(column);
  if (!held->metadata.empty()) out.metadata = held->metadata.data();
  if (column.type == Type::list) {
    add_children(*held, out, 1);
    export_schema(*column.items, held->children[0]);
  }
  if (column.type == Type::codes) {
    export_schema(*column.items, held->dictionary);
    out.dictionary = &held->dictionary;
  }
}

void export_schema(const Table& table, ArrowSchema& out) {
  HeldSchema* held = begin(out, "+s", "");
  out.flags = 0;
  add_children(*held, out, table.column_count());
  for (std::size_t i = 0; i < table.column_count(); ++i) {
    export_schema(*table.column(i), held->children[i]);
  }
}

void export_array(std::shared_ptr<const Column> column, ArrowArray& out) {
  if (column->type == Type::any) column = as_texts(*column);
  auto* held = new HeldArray{};
  out = {std::int64_t(column->size),     0,   0, 0, 0, nullptr, nullptr, nullptr,
         release<ArrowArray, HeldArray>, held};
  out.null_count = make_valid(*column, held->valid);
  held->buffers.push_back(held->valid.empty() ? nullptr : held->valid.data());
  if (column->type == Type::boolean) {
    held->bits.assign((column->size + 7) / 8, 0);
    for (std::size_t i = 0; i < column->size; ++i) {
      if (static_cast<const std::uint8_t*>(column->values)[i] != 0) set_bit(held->bits, i);
    }
    held->buffers.push_back(held->bits.data());
  } else {
    if (column->offsets != nullptr) held->buffers.push_back(column->offsets);
    if (column->type != Type::list) held->buffers.push_back(column->values);
  }
  if (column->type == Type::list) {
    add_children(*held, out, 1);
    export_array(column->items, held->children[0]);
  }
  if (column->type == Type::codes) {
    export_array(column->items, held->dictionary);
    out.dictionary = &held->dictionary;
  }
  out.n_buffers = std::int64_t(held->buffers.size());
  out.buffers = held->buffers.data();
  held->column = std::move(column);
}

void export_array(const Table& table, ArrowArray& out) {
  auto* held = new HeldArray{};
  out = {std::int64_t(table.rows()),     0,   0, 1, 0, nullptr, nullptr, nullptr,
         release<ArrowArray, HeldArray>, held};
  held->buffers = {nullptr};
  out.buffers = held->buffers.data();
  add_children(*held, out, table.column_count());
  for (std::size_t i = 0; i < table.column_count(); ++i) {
    export_array(table.column(i), held->children[i]);
  }
}

void export_stream(std::shared_ptr<const Table> table, ArrowArrayStream& out) {
  out.get_schema = [](ArrowArrayStream* stream, ArrowSchema* schema) {
    return attempted(stream, [&](HeldStream& held) { export_schema(*held.table, *schema); });
  };
  out.get_next = [](ArrowArrayStream* stream, ArrowArray* array) {
    return attempted(stream, [&](HeldStream& held) {
      *array = {};
      if (!std::exchange(held.is_done, true)) export_array(*held.table, *array);
    });
  };
  out.get_last_error = [](ArrowArrayStream* stream) -> const char* {
    const std::string& error = static_cast<HeldStream*>(stream->private_data)->error;
    return error.empty() ? nullptr : error.c_str();
  };
  out.release = [](ArrowArrayStream* stream) {
    delete static_cast<HeldStream*>(stream->private_data);
    stream->release = nullptr;
  };
  out.private_data = new HeldStream{std::move(table), false, {}};
}

}  // namespace npuscope::python
