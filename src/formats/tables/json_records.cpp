#include "formats/tables/json_records.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/try.hpp"

namespace npuscope::tables {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

constexpr std::uint64_t max_bytes = std::uint64_t{256} << 20;

std::string text_of(element value) {
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) return std::string(text);
  if (value.is_null()) return "";
  return simdjson::minify(value);
}

class JsonRecords : public Records {
 public:
  JsonRecords(const TableDescription& description, element root) {
    for (const TableColumn& column : description.columns) {
      if (std::ranges::find(heads_, column.head) != heads_.end()) continue;
      heads_.push_back(column.head);
      if (!column.optional) needed_.push_back(column.head);
    }
    take(root, "");
  }

  bool next() override {
    if (at_ == records_.size()) return false;
    fields_.assign(records_[at_].begin(), records_[at_].end());
    ++at_;
    return true;
  }
  const Fields& fields() const override { return fields_; }
  std::uint64_t offset() const override { return 0; }
  const std::optional<Error>* error() const override { return nullptr; }

 private:
  bool is_row(element value) const {
    object row;
    return value.get(row) == simdjson::SUCCESS && !needed_.empty() &&
           std::ranges::all_of(needed_, [&](const std::string& head) {
             return row[head].error() == simdjson::SUCCESS;
           });
  }

  // simdjson refuses what is nested too deep for this.
  void take(element value, const std::string& path) {
    object members;
    array list;
    if (value.get(members) == simdjson::SUCCESS) {
      for (const auto& [key, member] : members) {
        take(member, path.empty() ? std::string(key) : fmt::format("{}/{}", path, key));
      }
    } else if (value.get(list) == simdjson::SUCCESS) {
      bool is_table = false;  // rows that follow each other
      for (const element each : list) {
        if (!is_row(each)) {
          take(each, path);
          is_table = false;
          continue;
        }
        if (!is_table) records_.push_back(heads_);
        is_table = true;
        std::vector<std::string>& row = records_.emplace_back();
        for (const std::string& head : heads_) {
          element cell;
          row.push_back(each[head].get(cell) == simdjson::SUCCESS ? text_of(cell) : "");
        }
      }
    } else {
      records_.push_back({fmt::format("{}: {}", path, text_of(value))});
    }
  }

  std::vector<std::string> heads_, needed_;
  std::vector<std::vector<std::string>> records_;
  std::size_t at_ = 0;
  Fields fields_;
};

}  // namespace

Result<std::unique_ptr<Records>> open_json_records(ByteSource& source,
                                                   const TableDescription& description) {
  TRY_AS(text, read_all(source, max_bytes));
  const std::string_view json = without_byte_order_mark(*text);
  simdjson::dom::parser parser;
  element root;
  const auto error = parser.parse(json.data(), json.size()).get(root);
  if (error != simdjson::SUCCESS) {
    return input_error("{}: not whole JSON ({}); copy or write the file again", source.name(),
                       simdjson::error_message(error));
  }
  return std::make_unique<JsonRecords>(description, root);
}

}  // namespace npuscope::tables
