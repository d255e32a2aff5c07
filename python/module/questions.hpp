// Opening and querying, as several parts of the module do.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "columns.hpp"
#include "npuscope/formats/open.hpp"

namespace npuscope::python {

// Of a table; 0: all.
inline std::size_t rows_of(std::size_t top) { return top == 0 ? ~std::size_t{0} : top; }

// Each as it stands. Fails where a file that was named is in no profile, unless it is to keep
// going. max_memory: bytes; 0: a third of the machine's. roles: files with tables of roles.
Opened opened_files(const std::vector<std::string>& files, bool keep_going,
                    std::uint64_t max_memory, const std::vector<std::string>& roles = {});

// Fails with the first note that is an error: of a file that was named and could not be opened.
void check_all_opened(const std::vector<Note>& notes);

// The rows of one statement. `has_more`: rows beyond max_rows (0: all) were left out.
std::shared_ptr<const Table> queried(std::span<const query::NamedProfile> profiles,
                                     const std::string& sql, double seconds, std::uint64_t max_rows,
                                     bool& has_more);
// The same of a fleet's store.
std::shared_ptr<const Table> queried_store(const std::string& store, const std::string& sql,
                                           double seconds, std::uint64_t max_rows, bool& has_more);

}  // namespace npuscope::python
