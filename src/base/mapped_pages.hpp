// The memory of a file that is mapped: what has been read lies there until it is dropped.
//
//   const auto file = MappedFile::open("programqpc.bin");
//   Program program = copy_of(file->bytes().first(large));
//   drop_pages(file->bytes().first(large));   // once in memory, not twice
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "npuscope/base/files.hpp"

namespace npuscope {

// Of a MappedFile's bytes only. They can still be read: from the file, again.
inline void drop_pages(ByteSpan mapped) {
  const auto page = std::uintptr_t(::sysconf(_SC_PAGESIZE));
  const auto address = std::uintptr_t(mapped.data());
  const std::uintptr_t begin = (address + page - 1) / page * page;
  const std::uintptr_t end = (address + mapped.size()) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace npuscope
