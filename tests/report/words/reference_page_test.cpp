#include "report/words/reference_page.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace npuscope::report::reference_page_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(ReferencePage, HasGroupsEntriesAndBlocks) {
  const auto entries = entries_in(
      "# Page\nignored\n## First\n### wall, wall time\nFrom the first start\nto the last end.\n\n"
      "Again.\n### qnn, htp: QNN HTP\n- one\n  more\n- two\n```\nrun \\\n  --x\n\n## not a "
      "heading\n```\n"
      "After.\n## Second\n### last\n");
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].group, "First");
  EXPECT_EQ(entries[0].title, "wall, wall time");
  EXPECT_THAT(entries[0].names, ElementsAre("wall", "wall time"));
  ASSERT_EQ(entries[0].blocks.size(), 2u);
  EXPECT_EQ(entries[0].blocks[0].text, "From the first start to the last end.");
  EXPECT_EQ(entries[1].title, "QNN HTP");
  EXPECT_THAT(entries[1].names, ElementsAre("qnn", "htp"));
  ASSERT_EQ(entries[1].blocks.size(), 4u);
  EXPECT_EQ(entries[1].blocks[0].text, "one more");
  EXPECT_EQ(entries[1].blocks[2].kind, EntryBlock::Kind::commands);
  EXPECT_EQ(entries[1].blocks[2].text, "run \\\n  --x\n\n## not a heading");
  EXPECT_EQ(entries[1].blocks[3].text, "After.");
  EXPECT_EQ(entries[2].group, "Second");
}

TEST(ReferencePage, FindsAnEntryByAnyNameInAnyCaseAndInThePlural) {
  const auto* wall = find_entry(ReferencePage::glossary, "Wall time");
  ASSERT_NE(wall, nullptr);
  EXPECT_EQ(wall->names.front(), "wall");
  EXPECT_EQ(find_entry(ReferencePage::glossary, "DOMINANT PATHS"),
            find_entry(ReferencePage::glossary, "dominant path"));
  EXPECT_EQ(find_entry(ReferencePage::glossary, "fill"),
            find_entry(ReferencePage::glossary, "spill"));
  EXPECT_EQ(find_entry(ReferencePage::glossary, "no such word"), nullptr);
  EXPECT_EQ(find_entry(ReferencePage::glossary, ""), nullptr);
  EXPECT_EQ(find_entry(ReferencePage::glossary, "qnn-net-run"), nullptr);
}

TEST(ReferencePage, EveryNameLeadsToOneEntryOfOneToSixSentences) {
  std::set<std::string> names;
  for (const ReferenceEntry& entry : entries_of(ReferencePage::glossary)) {
    for (const std::string& name : entry.names) {
      EXPECT_EQ(find_entry(ReferencePage::glossary, name), &entry) << name;
      EXPECT_TRUE(names.insert(name).second) << name << " twice";
    }
    std::string text;
    for (const EntryBlock& block : entry.blocks) text += block.text + " ";
    std::size_t sentences = 0;
    for (std::size_t i = 0; i + 1 < text.size(); ++i)
      sentences += text[i] == '.' && text[i + 1] == ' ';
    EXPECT_GE(sentences, 1u) << entry.title;
    EXPECT_LE(sentences, 7u) << entry.title;
  }
  EXPECT_GT(names.size(), 200u);
}

TEST(ReferencePage, EveryRuntimeHasCommandsWhatToOpenTheCostAndWhereItIsFrom) {
  for (const ReferenceEntry& entry : entries_of(ReferencePage::recording)) {
    std::string items, commands;
    for (const EntryBlock& block : entry.blocks) {
      if (block.kind == EntryBlock::Kind::item) items += block.text + "\n";
      if (block.kind == EntryBlock::Kind::commands) commands += block.text + "\n";
    }
    EXPECT_THAT(commands, HasSubstr("npuscope ")) << entry.title;
    EXPECT_THAT(items, HasSubstr("Cost: ")) << entry.title;
    if (entry.names.front() == "reference") continue;  // its own flow
    EXPECT_THAT(items, HasSubstr("Open: ")) << entry.title;
    EXPECT_THAT(items, HasSubstr("Sources: https://")) << entry.title;
  }
  for (const char* runtime : {"qnn", "aihub", "onnxruntime", "executorch", "qaic", "torq",
                              "sigmastar", "pytorch", "perfetto"}) {
    EXPECT_NE(find_entry(ReferencePage::recording, runtime), nullptr) << runtime;
  }
}

TEST(ReferencePage, TextFitsTheWidthButForCommandsAndJsonHasTheSame) {
  const ReferenceEntry* entry = find_entry(ReferencePage::recording, "qaic");
  ASSERT_NE(entry, nullptr);
  const Document document = entry_document(*entry, 70);
  for (const std::string& line : document.sections[0].drawing) {
    if (!line.starts_with("    /") && !line.starts_with("      ")) {
      EXPECT_TRUE(line.size() <= 70 || line.starts_with("    sudo") ||
                  line.find("https") != line.npos)
          << line;
    }
  }
  const auto json = nlohmann::json::parse(document_json(document, {}))["entry"];
  EXPECT_EQ(json["name"], "qaic");
  EXPECT_EQ(json["commands"].size(), 1u);
  EXPECT_THAT(json["commands"][0].get<std::string>(), HasSubstr("-stats-level=70"));
  EXPECT_THAT(json["text"].get<std::string>(), HasSubstr("Cost: "));
  const auto list = nlohmann::json::parse(
      document_json(entries_document(ReferencePage::recording, 100), {}))["entries"]["rows"];
  EXPECT_EQ(list.size(), entries_of(ReferencePage::recording).size());
  EXPECT_EQ(list[0]["name"], "qnn");
}

}  // namespace
}  // namespace npuscope::report::reference_page_test
