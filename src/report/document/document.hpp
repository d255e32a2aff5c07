// What a command answers, as data: sections of facts, tables and remarks. One document is printed
// as text, JSON or CSV, so the three cannot say different things.
//
//   Section units{.key = "units", .title = "UNITS"};
//   units.table.fields = {{"unit", "unit", Format::name}, {"busy", "busy", Format::ticks},
//                         {"busy_share_of_wall", "of wall", Format::share}};
//   units.table.rows = {{"HMX", 12312, 0.19}};
//   document.sections.push_back(units);
//
//   document_text(document, 100)      UNITS
//                                       unit    busy  of wall
//                                       HMX   12,312   19.0 %
//   documents_json({&document, 1}, …) {"profiles": [{…, "units": {"rows": [{"unit": "HMX",
//                                      "busy": 12312, "busy_share_of_wall": 0.19}]}}], …}
//   document_csv(…, "units")          unit,busy,busy_share_of_wall
//
// Values are as they are: ticks of a clock, bytes, hertz, shares as parts of one. Only text rounds
// them and gives them units.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"
#include "profile/names.hpp"
#include "report/document/text_table.hpp"

namespace npuscope::report {

// The names that enumerations have in JSON, CSV and SQLite.

using npuscope::stable_name;

enum class Format : std::uint8_t {
  name,     // text, to the left
  names,    // a list of texts
  numbers,  // a list of whole numbers: [1, 480, 800, 3]
  truth,    // "yes" or "no"
  count,
  number,            // four significant digits
  exact,             // as many digits as tell the number from its neighbours
  ticks,             // of a clock of the profile: time where its rate is known, else a number
  seconds,           //
  bytes,             //
  bytes_per_second,  //
  hertz,             //
  share,             // 0.19 is "19.0 %"
  change,            // 0.03 is "+3.0 %", 0 is "0 %"
  bar,               // a share, drawn
};

// Nothing (not known), or the value that a field's format takes: text, list of texts, truth, whole
// number, list of them, or number. What is neither finite nor known prints as blank and null.
class Value {
 public:
  Value() = default;
  Value(std::string text) : held_(std::move(text)) {}
  Value(std::string_view text) : held_(std::string(text)) {}
  Value(const char* text) : held_(std::string(text)) {}
  Value(std::vector<std::string> texts) : held_(std::move(texts)) {}
  Value(std::vector<std::int64_t> numbers) : held_(std::move(numbers)) {}
  Value(bool truth) : held_(truth) {}
  Value(double number) : held_(number) {}
  template <class Number>
    requires(std::is_integral_v<Number> && !std::is_same_v<Number, bool>)
  Value(Number number) {
    if (std::is_unsigned_v<Number> && std::uint64_t(number) > max_signed) {
      held_ = double(number);
    } else {
      held_ = std::int64_t(number);
    }
  }
  template <class Number>
  Value(const std::optional<Number>& value) {
    if (value) *this = Value(*value);
  }

  // libstdc++ 12 destroys a variant of strings and vectors, whose copy fails for want of memory, as
  // if it held something; assigned to, it does not.
  Value(const Value& other) { held_ = other.held_; }
  Value(Value&&) noexcept = default;
  Value& operator=(const Value&) = default;
  Value& operator=(Value&&) noexcept = default;
  ~Value() = default;

  using Held = std::variant<std::monostate, std::string, std::vector<std::string>, bool,
                            std::int64_t, double, std::vector<std::int64_t>>;
  const Held& held() const { return held_; }
  bool known() const { return held_.index() != 0; }

 private:
  static constexpr std::uint64_t max_signed = ~std::uint64_t{0} >> 1;
  Held held_;
};

// Nothing where there is nothing to say: of an empty text or list, of a number that is not above 0.
template <class Texts>
Value if_any(const Texts& texts) {
  return texts.empty() ? Value() : Value(texts);
}
template <class Number>
Value if_positive(Number number) {
  return number > 0 ? Value(number) : Value();
}
inline Value if_any(const Profile& profile, StringId text) { return if_any(profile.text(text)); }
inline Value ratio(double part, double whole) { return whole > 0 ? Value(part / whole) : Value(); }

struct Field {
  std::string key;         // in JSON and CSV: stable, snake_case; empty: in text only
  std::string label = {};  // in text; empty: not in text
  Format format = Format::name;
  bool needed = true;  // in text: of those not needed, the last gives way when there is no room
  // Of a table in text: left out of it when no row has a value.
  bool only_if_known = false;
  std::optional<ClockId> clock = {};  // of ticks; none: the base clock
  bool stands_right = false;          // a number that is text already
  bool is_bound = false;              // what bounds a row: of its style in text
  bool is_path = false;               // of files: what all begin with is folders, in text
  // What sort of number it is and where it comes from, where that is known.
  std::optional<MeasureKind> kind = {};
  std::optional<Origin> origin = {};
};

inline Field of_kind(MeasureKind kind, Field field) {
  field.kind = kind;
  return field;
}

struct Fact {
  Field field;
  Value value;
};

struct Table {
  std::vector<Field> fields;             // none: no table
  std::vector<std::vector<Value>> rows;  // as many values as fields; none: text says "none"
  std::uint64_t row_count = 0;           // with those left out; 0: rows are all there is
  std::size_t names = 0;                 // the field of names, which text never shortens
  std::vector<Style> bounds = {};        // by row; none: plain
};

struct Section {
  std::string key = {};    // in JSON and CSV; empty: in text only
  std::string title = {};  // text prints it above, and how many rows of all it shows
  std::vector<Fact> facts = {};
  Table table = {};
  std::vector<std::string> drawing = {};  // lines for text only: what the rest says, as a picture
  std::vector<std::string> remarks = {};  // sentences
  std::vector<Section> parts = {};
  bool in_list = false;  // in JSON one of several under this key, an array
};

struct DocumentSide {
  std::string name;  // which side of the comparison
  const Profile* profile;
};

struct Document {
  const Profile* profile = nullptr;  // what ticks and the head are of; none: of no single profile
  std::string selection = {};        // what the profile was cut down to; empty: it is whole
  std::vector<Section> sections = {};
  std::string scope = {};  // which of several inferences the numbers are of; empty: there is one
  std::vector<DocumentSide> sides = {};  // what it compares; in JSON the head of each profile
  std::string about = {};  // what the profile is, behind the names of its files; text only
};

// Keeps so many rows of each table, which says how many there were.
void cut_tables(std::vector<Section>& sections, std::size_t rows);

// Lines of at most `width` columns (but no narrower than 60), the last one ended. The head names
// the files and warns of a profile whose numbers say structure only.
std::string document_text(const Document& document, std::size_t width,
                          Colour colour = Colour::none);

// {"profiles": […], "notes": […]}; `notes` are of files that are no profile. One document that is
// of no profile is the object itself.
std::string documents_json(std::span<const Document> documents, std::span<const Note> notes);

// The document itself as the object, with `notes`: for an answer that is of no single profile.
std::string document_json(const Document& document, std::span<const Note> notes);

// One table as CSV (RFC 4180, header first): that of the section of this key, or the first table
// where `key` is empty. With several documents a first column says which `profile`. A usage error
// that lists the tables when there is none of that key.
Result<std::string> documents_csv(std::span<const Document> documents, std::string_view key);

// A document as Markdown: sections become headings, facts a list, tables tables, remarks
// paragraphs.
//
//   ## Real runs
//
//   | run | figure | real | npuscope |
//   |---|---|---:|---:|
//   | Amber 7B decode | device time | 125.11 ms | 120.98 ms |

// Names are data: nothing in them may begin markup, a link or a column.
std::string markdown_escaped(std::string_view text);

std::string document_markdown(const Document& document, const std::string& title);

// Pages of profiles, each under the names of its files; drawings become blocks of code.
std::string documents_markdown(std::span<const Document> documents);

}  // namespace npuscope::report
