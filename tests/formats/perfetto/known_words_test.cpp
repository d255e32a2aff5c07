#include "formats/perfetto/known_words.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "profile/schema.hpp"

namespace npuscope::perfetto::known_words_test {
namespace {

// A column of ops that a trace did not say was lost on the way through Perfetto.
TEST(KnownWords, AColumnOfOpsHadNoWord) {
  const std::map<std::string, std::string> named_apart{{"thread_group", "group"},
                                                       {"vendor_id", "op id"}};
  for (const schema::Field& field : schema::table_named("ops").fields) {
    const std::string name = field.name;
    if (field.set == nullptr) continue;              // the row's number
    if (name == "name" || name == "kind") continue;  // the event's own
    std::string word = name;
    std::replace(word.begin(), word.end(), '_', ' ');
    if (const auto apart = named_apart.find(name); apart != named_apart.end()) word = apart->second;
    word.insert(0, word_prefix);
    EXPECT_NE(std::find(words.begin(), words.end(), word), words.end()) << word;
  }
}

}  // namespace
}  // namespace npuscope::perfetto::known_words_test
