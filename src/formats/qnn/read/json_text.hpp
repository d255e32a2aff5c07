// A JSON file of QNN's, in memory, walked once from front to back. What is wrong is noted and
// passed over: a value of another type counts as absent, and where the text breaks, the walk ends
// with what it has seen.
//
//   auto json = JsonText::load(*source, losses);
//   json->each_member([&](std::string_view key, ondemand::value value) {
//     if (key == "model_id") model = json->text(value, key).value_or("");
//   });
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "npuscope/base/byte_source.hpp"
#include "npuscope/base/result.hpp"
#include "profile/counted_notes.hpp"

namespace npuscope::qnn {

namespace ondemand = simdjson::ondemand;

// `text` cut back to its last complete value, with the brackets that are open there closed: what
// can still be read of a copy that ended early.
std::string close_json(std::string_view text);

class JsonText {
 public:
  // An input error when the file cannot be read or does not hold an object.
  static Result<JsonText> load(ByteSource& source, CountedNotes& losses);

  // Of the document. `body` takes (std::string_view key, ondemand::value value).
  template <class Body>
  void each_member(Body&& body) {
    ondemand::object object;
    if (document_->get_object().get(object)) return;  // load() has seen that it is one
    walk_object(object, body);
  }

  template <class Body>
  void each_member(ondemand::value& value, std::string_view key, Body&& body) {
    ondemand::object object;
    if (const auto error = value.get_object().get(object)) return refuse(error, key, "an object");
    walk_object(object, body);
  }

  // `body` takes (ondemand::value element).
  template <class Body>
  void each_element(ondemand::value& value, std::string_view key, Body&& body) {
    ondemand::array array;
    if (const auto error = value.get_array().get(array)) return refuse(error, key, "an array");
    for (auto item : array) {
      ondemand::value element;
      if (broken(std::move(item).get(element))) return;
      body(element);
      if (broken_) return;
    }
  }

  // None, and a note, when the value is of another type or beyond 64 bits. A whole number may be
  // written with a fraction or an exponent, or stand in quotes.
  std::optional<std::int64_t> integer(ondemand::value& value, std::string_view key);
  std::optional<double> number(ondemand::value& value, std::string_view key);
  std::optional<bool> boolean(ondemand::value& value, std::string_view key);
  // Valid as long as this object is.
  std::optional<std::string_view> text(ondemand::value& value, std::string_view key);

  // Whether another row of a table may be kept. There is an end to them, so that rows of a few
  // bytes each cannot fill the memory: then the walk ends with a note.
  bool has_room(std::string_view table);

  // The byte in the file where the walk stands.
  std::uint64_t offset();
  CountedNotes& losses() { return *losses_; }

 private:
  JsonText() = default;
  Status parse(const std::string& name);
  simdjson::error_code try_parse();
  void mend(simdjson::error_code error);

  template <class Body>
  void walk_object(ondemand::object& object, Body&& body) {
    for (auto item : object) {
      ondemand::field field;
      std::string_view key;
      if (broken(std::move(item).get(field)) || broken(key_of(field, key))) return;
      body(key, field.value());
      if (broken_) return;
    }
  }
  simdjson::error_code key_of(ondemand::field& field, std::string_view& key) const;
  bool broken(simdjson::error_code error);
  void refuse(simdjson::error_code error, std::string_view key, std::string_view wanted);

  std::unique_ptr<std::string> text_;  // the document points into it
  std::unique_ptr<ondemand::parser> parser_;
  std::unique_ptr<ondemand::document> document_;
  CountedNotes* losses_ = nullptr;
  std::size_t rows_ = 0;
  bool broken_ = false;
};

}  // namespace npuscope::qnn
