// Where a fleet's store is, by its name and the first bytes of its file: what a program asks that
// does not open stores.
//
//   is_store("fleet.db")                                    // the file's head is that of a store
//   is_store("clickhouse://db1/npus")                       // true, whatever is there
//   store_name("clickhouse://me:secret@db1:8123/npus")      // "clickhouse://db1:8123/npus"
#pragma once

#include <filesystem>
#include <string>

namespace npuscope::fleet {

// SQLite's application_id of a store, "npuf".
inline constexpr int application_id = 0x6e707566;

// Whether that is the address of a store, a folder with fleet.db or a file that begins as a store's
// does.
bool is_store(const std::string& path);

// What pages and errors call the store that is opened so: without a password.
std::string store_name(const std::string& path);

// Of a folder its fleet.db.
std::filesystem::path file_of_store(const std::filesystem::path& path);

// How long "clickhouse://" is; 0 where the text begins with no scheme.
std::size_t end_of_scheme(const std::string& path);

}  // namespace npuscope::fleet
