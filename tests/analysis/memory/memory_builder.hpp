// Profiles with bytes, on top of ProfileBuilder.
#pragma once

#include "analysis/profile_builder.hpp"
#include "number_meaning.hpp"

namespace npuscope::test_support {

struct MemoryBuilder : ProfileBuilder {
  using ProfileBuilder::ProfileBuilder;

  // Of each span in the order of the spans; call after the last of them.
  void bytes(std::string_view name, std::vector<std::int64_t> values) {
    MeasureColumn column;
    column.what = text(name);
    column.values.assign(values.begin(), values.end());
    column.values.resize(profile.spans.size(), MeasureColumn::missing);
    column.meaning = test_support::meaning_of(column.kind, profile.text(column.what));
    profile.spans.measures.push_back(std::move(column));
  }

  void measure(Measure::Subject subject, std::uint32_t id, std::string_view name, double value) {
    Measure measure;
    measure.subject = subject;
    measure.subject_id = id;
    measure.what = text(name);
    measure.value = value;
    measure.meaning = test_support::meaning_of(measure.kind, profile.text(measure.what));
    profile.measures.push_back(measure);
  }

  std::uint32_t tensor(std::string_view printed, bool constant, OpId producer = OpId::none) {
    Tensor tensor;
    shape(tensor, printed);
    tensor.is_constant = constant;
    tensor.producer = producer;
    profile.tensors.push_back(tensor);
    return std::uint32_t(profile.tensors.size() - 1);
  }
  void use(std::uint32_t tensor, OpId consumer) {
    profile.tensor_uses.push_back({tensor, consumer});
  }

  Op& at(OpId op) { return profile.ops[index_of(op)]; }
};

}  // namespace npuscope::test_support
