// The numbers by which parquet.thrift names types, encodings and kinds of pages; those that are
// written.
#pragma once

#include <cstdint>

namespace npuscope::parquet {

enum class PhysicalType : std::int32_t { int64 = 2, real64 = 5, bytes = 6 };
enum class Repetition : std::int32_t { required = 0, optional = 1 };
enum class ConvertedType : std::int32_t { utf8 = 0 };
enum class Encoding : std::int32_t { plain = 0, run_lengths = 3, dictionary = 8 };
enum class PageType : std::int32_t { data = 0, dictionary = 2 };
enum class Codec : std::int32_t { zstd = 6 };

}  // namespace npuscope::parquet
