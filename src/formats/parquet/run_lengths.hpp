// Small numbers as runs of equal ones and groups of eight that are packed bit by bit: Parquet's
// encoding of levels and of places in a dictionary.
//
//   append_run_lengths(page, places, 3)               // numbers of three bits
//
// Source: the Parquet project's Encodings.md, "Run Length Encoding / Bit-Packing Hybrid".
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace npuscope::parquet {

// All of `values` are below 2^bits; bits is at most 32.
void append_run_lengths(std::string& to, std::span<const std::uint32_t> values, int bits);

}  // namespace npuscope::parquet
