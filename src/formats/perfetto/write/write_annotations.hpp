// What a slice says beside its name and time, as debug annotations: the arguments of its span, and
// what the data model knows beyond them. Annotations of one key begin with the same bytes all along
// a sequence, so that those of a shape of arguments are made once.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/perfetto/known_words.hpp"
#include "formats/perfetto/write/write_sequence.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::perfetto {

// What a trace's own reader makes: an event says all of it.
constexpr bool is_plain(SpanKind kind) {
  return kind == SpanKind::slice || kind == SpanKind::instant;
}

// The numbers that texts of a profile, and words of the format, have in the sequence at hand.
class TextNumbers {
 public:
  TextNumbers(const Profile& profile, SequenceWriter& sequence)
      : profile_(profile), sequence_(sequence) {}

  std::uint64_t of(Interned kind, StringId text) const {
    return sequence_.intern(kind, std::uint32_t(text), [&] { return profile_.text(text); });
  }
  std::uint64_t of(Interned kind, Word word) const {
    return sequence_.intern(kind, std::uint32_t(profile_.strings.size() + std::size_t(word)),
                            [&] { return text_of(word); });
  }

 private:
  const Profile& profile_;
  SequenceWriter& sequence_;
};

class AnnotationWriter {
 public:
  AnnotationWriter(const Profile& profile, SequenceWriter& sequence);

  // Into the event that the sequence has at hand. Those of a kind and of an op are the same for all
  // their spans.
  void add_arguments(std::uint32_t row);
  void add_kind(SpanKind kind);
  void add_extras(std::uint32_t row) {
    if (has_extras_) add_extras_of_row(row);
  }
  void add_op_extras(const Op& op);
  void add_phase(const Phase& phase, std::uint32_t number);

  std::size_t measures() const { return measures_.size(); }  // of spans and phases

 private:
  // How the annotations of a key begin: its number, and the tag of its value.
  struct Head {
    static constexpr std::size_t max_size = 8;
    std::uint64_t bytes = 0;
    std::uint8_t size = 0;
    ArgumentType type = ArgumentType::null;
  };
  struct Form {
    std::uint32_t sequence = 0;  // of which the heads are; 0: of none
    std::vector<Head> heads;
    std::size_t max = 0;              // bytes but for JSON
    std::vector<std::uint32_t> json;  // places of what is of any size
  };

  void sort_measures();
  void add_extras_of_row(std::uint32_t row);
  // The heads are made as they come: keys and texts are numbered in that order.
  void make_heads(Form& form, const ArgumentRow& values);
  Head head_of(const ArgumentKey& key) const;
  char* put_argument(char* at, const Head& head, std::uint64_t bits) const;
  void add_measures(Measure::Subject subject, std::uint32_t id);
  template <class Put>
  void annotate(std::uint64_t name, std::size_t max, const Put& put);
  void annotate(std::uint64_t name, std::int64_t value);
  void annotate(std::uint64_t name, double value);
  void annotate(Word word, std::int64_t value);
  void annotate(Word word, StringId text);
  template <class Text>
  void annotate_interned(Word word, Text text);

  const Profile& profile_;
  SequenceWriter& sequence_;
  TextNumbers numbers_;
  const bool has_arguments_;
  std::vector<Form> forms_;              // by shape of arguments
  std::vector<std::uint32_t> measures_;  // of spans and phases, by subject and its id
  std::vector<bool> has_measure_;        // by row
  bool has_extras_ = false;              // some rows
};

}  // namespace npuscope::perfetto
