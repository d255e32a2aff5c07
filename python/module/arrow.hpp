// Tables and columns by the Arrow C data interface, for whoever takes PyCapsules of it (pyarrow,
// polars, duckdb): values stay where they are; bitmaps, which Arrow wants of what is unknown and of
// truth values, are made.
//
//   ArrowSchema schema; ArrowArray array;
//   export_schema(table, schema);       // a struct, a child for each column, its unit as metadata
//   export_array(table, array);
//   array.release(&array);              // as whoever takes them does
//
// The three structs are those of https://arrow.apache.org/docs/format/CDataInterface.html.
#pragma once

#include <cstdint>

#include "columns.hpp"

extern "C" {

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};

#endif  // ARROW_C_DATA_INTERFACE

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};

#endif  // ARROW_C_STREAM_INTERFACE

}  // extern "C"

namespace npuscope::python {

void export_schema(const Table& table, ArrowSchema& out);
void export_schema(const Column& column, ArrowSchema& out);
void export_array(const Table& table, ArrowArray& out);
void export_array(std::shared_ptr<const Column> column, ArrowArray& out);

// All rows as one batch.
void export_stream(std::shared_ptr<const Table> table, ArrowArrayStream& out);

}  // namespace npuscope::python
