// Every word in the titles and column heads of pages is in the glossary, or plain English. The
// heads are those that src/report writes as Section::title and Field::label, also where no sample
// has the data that shows them, and the names of enumerations that pages print.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "npuscope/analysis/coarse.hpp"
#include "npuscope/analysis/ops.hpp"
#include "npuscope/analysis/path.hpp"
#include "npuscope/analysis/roofline.hpp"
#include "npuscope/analysis/timeline.hpp"
#include "report/words/reference_page.hpp"

namespace npuscope::report::glossary_terms_test {
namespace {

using Words = std::vector<std::string>;

// What needs no entry: particles, and words that mean in a head what they mean anywhere.
const char* const plain_words =
    "a an are after again against all and any around as at b because before between byte cause "
    "code "
    "computed description did each else end event exist for from go group has header hold "
    "identifier "
    "in independent index innermost into is it its known lack largest last lead like likely "
    "loaded location log longest lowest meaning missing more most name next no not nothing of on "
    "one "
    "only or over path per ran read reported row say second shared shown side small some split "
    "stored that the their them these through time to two unknown us version what where which "
    "while "
    "why width with without wrote "
    "buffer depend ns mhz port unrecorded process thread blind find speak s checked kept left none "
    "out suggested supported height training branches goes container content network offset valid";

Words words_of(std::string_view text) {
  Words words;
  std::string word;
  const auto end_word = [&] {
    if (word.size() > 3 && word.ends_with('s') && !word.ends_with("ss")) word.pop_back();
    if (!word.empty() && word.find_first_not_of("0123456789/%") != word.npos) words.push_back(word);
    word.clear();
  };
  bool in_placeholder = false;  // {} of a format
  for (const char c : text) {
    in_placeholder = (in_placeholder || c == '{') && c != '}';
    if (in_placeholder || c == '}') continue;
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '/' || c == '%';
    if (c >= 'A' && c <= 'Z') {
      word += char(c - 'A' + 'a');
    } else if (is_letter) {
      word += c;
    } else {
      end_word();
    }
  }
  end_word();
  return words;
}

struct Literal {
  std::string code;  // between the literal before it and this one, without blanks and comments
  std::string text;
};

// String literals of C++; those that stand side by side are one.
std::vector<Literal> literals_of(const std::string& source) {
  std::vector<Literal> literals;
  std::string code;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const char c = source[i];
    if (source.compare(i, 2, "//") == 0) {
      i = std::min(source.find('\n', i), source.size());
    } else if (c == '\'' && i + 2 < source.size()) {
      i += source[i + 1] == '\\' ? 3 : 2;
    } else if (c == '"') {
      std::string text;
      for (++i; i < source.size() && source[i] != '"'; ++i) {
        if (source[i] == '\\') ++i;
        text += source[i];
      }
      if (code.empty() && !literals.empty()) {
        literals.back().text += text;
      } else {
        literals.push_back({code, text});
      }
      code.clear();
    } else if (c != ' ' && c != '\n') {
      code += c;
    }
  }
  return literals;
}

bool is_key(const Literal& literal) {
  const bool opens = literal.code.ends_with("{") || literal.code.ends_with("(");
  return opens && literal.text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") ==
                      literal.text.npos;
}

// {"key", "label", …} and .title = "TITLE", with what formats and calls stand around it.
std::set<std::string> heads_in(const std::string& source) {
  std::set<std::string> heads;
  const std::vector<Literal> literals = literals_of(source);
  for (std::size_t i = 0; i < literals.size(); ++i) {
    const std::string& code = literals[i].code;
    const bool is_label = i > 0 && code == "," && is_key(literals[i - 1]);
    bool is_title = false;
    for (const char* start : {"title=", "title=in_ticks(", "title=fmt::format(", "title+="}) {
      is_title = is_title || code.ends_with(start);
    }
    const bool is_list = i + 1 < literals.size() && literals[i + 1].code == ",";  // of texts
    if ((is_label && !is_list) || is_title) heads.insert(literals[i].text);
  }
  return heads;
}

template <class Enum>
void add_names(std::set<std::string>& heads, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) heads.insert(name_of(Enum(i)));
}

std::set<std::string> all_heads() {
  using namespace analysis;
  std::set<std::string> heads{"issue", "work", "active", "span", "waiting", "async"};  // of ops
  const std::filesystem::path root = std::filesystem::path(NPUSCOPE_SOURCE_DIR) / "src/report";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const bool is_of_json = entry.path().parent_path().filename() == "html";  // keys, no heads
    if (entry.path().extension() != ".cpp" || is_of_json ||
        entry.path().filename() == "annotated_xlsx.cpp")
      continue;
    std::stringstream source;
    source << std::ifstream(entry.path()).rdbuf();
    heads.merge(heads_in(source.str()));
  }
  add_names<Part>(heads, part_count);
  add_names<Engine>(heads, engine_count);
  add_names<Reason>(heads, reason_count);
  add_names<GapPart>(heads, gap_part_count);
  add_names<Resource>(heads, resource_count);
  add_names<RooflineVerdict>(heads, std::size_t(RooflineVerdict::dispatch) + 1);
  add_names<Grouping>(heads, std::size_t(Grouping::unit) + 1);
  add_names<Domain>(heads, std::size_t(Domain::other) + 1);
  return heads;
}

// Those of a head that are neither a name of the glossary, the longest first, nor plain.
Words unexplained(const std::string& head, const std::set<Words>& names,
                  const std::set<std::string>& plain) {
  const Words words = words_of(head);
  Words left;
  for (std::size_t i = 0; i < words.size();) {
    std::size_t length = words.size() - i;
    const auto part = [&] {
      return Words(words.begin() + long(i), words.begin() + long(i + length));
    };
    while (length > 0 && !names.contains(part())) --length;
    if (length == 0 && !plain.contains(words[i])) left.push_back(words[i]);
    i += std::max<std::size_t>(1, length);
  }
  return left;
}

TEST(Glossary, HasEveryTermOfTheHeadsOfAllPages) {
  std::set<Words> names;
  for (const ReferenceEntry& entry : entries_of(ReferencePage::glossary)) {
    for (const std::string& name : entry.names) names.insert(words_of(name));
  }
  std::set<std::string> plain;
  for (const std::string& word : words_of(plain_words)) plain.insert(word);
  const std::set<std::string> heads = all_heads();
  EXPECT_GT(heads.size(), 350u) << "the scan no longer finds heads";
  for (const char* head : {"DMA behind compute", "CRITICAL PATH", "cyc/packet", "ridge point"}) {
    EXPECT_TRUE(heads.contains(head)) << head;
  }
  for (const std::string& head : heads) {
    for (const std::string& word : unexplained(head, names, plain)) {
      ADD_FAILURE() << "'" << word << "' of the head '" << head
                    << "' is neither in docs/glossary.md nor a plain word of this test";
    }
  }
  for (const std::string& word : plain) {
    EXPECT_FALSE(names.contains({word})) << word << " is in the glossary, so it need not be plain";
  }
}

}  // namespace
}  // namespace npuscope::report::glossary_terms_test
