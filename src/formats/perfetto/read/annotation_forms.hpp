// What annotations of events look like: events of one name have the same annotations in the same
// order, each the number of a name and a value of the same field.
//
//   22 06  08 01  20 80 D2 04     annotations 1 and 2 of an event: what is the same in the next
//   22 05  08 03  88 01 31        event of its name is compared at once, only values are read
//
// Nothing depends on what is learnt but speed: where an annotation is another one, or not right,
// decode() says so and leaves it to whoever reads field by field.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/perfetto/read/argument_table.hpp"
#include "formats/perfetto/read/sequence.hpp"

namespace npuscope::perfetto {

class AnnotationForms {
 public:
  // Annotations that follow one another, with their tags and lengths, of an event whose name has
  // this number. Bytes come before the first. False: `into` is to be cleared.
  bool decode(std::string_view annotations, std::uint64_t name_iid, const InternedState& interned,
              ArgumentList& into);
  // What was made of the last that decode() could not read.
  void learn(std::string_view annotations, std::uint64_t name_iid, const InternedState& interned,
             const ArgumentList& made);

 private:
  enum class Value : std::uint8_t { integer, boolean, number, text };
  struct Begin {
    std::uint64_t bytes = 0, mask = 0;  // before the value, the first lowest
    std::uint32_t size = 0;
    Value value = Value::integer;
  };
  struct Form {
    std::uint64_t of = 0;  // InternedState::annotation_forms; 0: not learnt
    std::uint64_t tried_for = 0;
    std::vector<Begin> begins;
    ArgumentShape keys;
    std::uint32_t shape = 0;           // ArgumentList::borrow()
    std::uint32_t learnt_in_vain = 0;  // times since it was of use
  };
  static constexpr std::size_t sequences_with_forms = 64, forms_of_sequence = 16;
  static constexpr std::uint32_t most_in_vain = 16;

  static std::optional<Begin> begin_of(std::string_view annotation, const InternedState& interned,
                                       const ArgumentKey& key);
  Form& form_for(const InternedState& interned, std::uint64_t name_iid) {
    if (interned.annotation_forms == 0) number_forms_of(interned);
    const std::uint64_t of = interned.annotation_forms;
    return forms_[of % sequences_with_forms * forms_of_sequence + name_iid % forms_of_sequence];
  }
  void number_forms_of(const InternedState& interned);

  std::vector<Form> forms_;  // none before there are annotations
  std::uint64_t last_forms_ = 0;
};

}  // namespace npuscope::perfetto
