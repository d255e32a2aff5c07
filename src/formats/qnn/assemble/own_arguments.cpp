#include "formats/qnn/assemble/own_arguments.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "profile/kept_arguments.hpp"

namespace npuscope::qnn {
namespace {

using TextOfOp = StringId TraceOp::*;

// An argument that may repeat a column.
struct Repeating {
  enum class What : std::uint8_t { text_of_op, start, duration };
  std::string_view key;
  What what;
  TextOfOp text = nullptr;
};

constexpr Repeating repeating[] = {
    {"HTP Op Type", Repeating::What::text_of_op, &TraceOp::htp_op},
    {"QNN Op Name", Repeating::What::text_of_op, &TraceOp::qnn_op},
    {"QNN Op Type", Repeating::What::text_of_op, &TraceOp::qnn_op_type},
    {"Data Type", Repeating::What::text_of_op, &TraceOp::type},
    {"Dims", Repeating::What::text_of_op, &TraceOp::dims},
    {"Flags", Repeating::What::text_of_op, &TraceOp::flag_words},
    {"Inputs Ops", Repeating::What::text_of_op, &TraceOp::inputs},
    {"ID", Repeating::What::text_of_op, &TraceOp::padded_id},
    {"Start Cycle", Repeating::What::start},
    {"Duration (cycles)", Repeating::What::duration},
};

class OwnArguments {
 public:
  OwnArguments(const OpTrace& trace, const Spans& spans, const StringPool& strings)
      : trace_(trace), spans_(spans), arguments_(trace.events.slices.arguments) {
    for (const ArgumentShape& shape : arguments_.shapes) plans_.push_back(plan_of(shape, strings));
  }

  Arguments take() const {
    KeptArguments kept(arguments_, trace_.rows.size());
    parallel_for(kept.parts(), [&](std::size_t number) { keep_rows(kept.part(number)); });
    return kept.finish();
  }

 private:
  struct Asked {
    std::uint32_t place;
    const Repeating* as;
  };
  // Of the rows of one shape.
  struct Plan {
    std::vector<Asked> asked;
    std::vector<std::uint32_t> others;  // the places that are not asked
  };

  static bool may_repeat(const Repeating& as, ArgumentType type) {
    if (as.what != Repeating::What::text_of_op) return type == ArgumentType::integer;
    const bool is_id = as.text == &TraceOp::padded_id;
    return type == ArgumentType::text || (type == ArgumentType::json && !is_id);
  }

  static Plan plan_of(const ArgumentShape& shape, const StringPool& strings) {
    Plan plan;
    for (std::uint32_t place = 0; place < shape.size(); ++place) {
      const std::string_view key = strings[shape[place].name];
      const auto* const as = std::ranges::find(repeating, key, &Repeating::key);
      // Of a key that is there twice the last is read.
      const bool is_last = std::ranges::none_of(
          shape.begin() + place + 1, shape.end(),
          [&](const ArgumentKey& later) { return later.name == shape[place].name; });
      if (as != std::end(repeating) && is_last && may_repeat(*as, shape[place].type)) {
        plan.asked.push_back({place, as});
      } else {
        plan.others.push_back(place);
      }
    }
    return plan;
  }

  bool repeats(const Repeating& as, std::uint64_t bits, std::size_t span) const {
    switch (as.what) {
      case Repeating::What::start: return std::int64_t(bits) == spans_.start[span];
      case Repeating::What::duration: return std::int64_t(bits) == spans_.duration[span];
      case Repeating::What::text_of_op: break;
    }
    const StringId text = trace_.ops[trace_.op[span]].*as.text;
    const bool is_known = as.text != &TraceOp::padded_id || text != StringId::empty;
    return is_known && StringId(std::uint32_t(bits)) == text;
  }

  void keep_rows(KeptArguments::Part& part) const {
    if (arguments_.empty()) return;
    std::vector<std::uint32_t> places;
    for (std::size_t span = part.rows().first; span < part.rows().last; ++span) {
      const std::uint32_t from = trace_.rows[span];
      const ArgumentRow row = arguments_.row(from);
      const Plan& plan = plans_[row.shape()];
      places = plan.others;
      for (const Asked& asked : plan.asked) {
        if (!repeats(*asked.as, row.bits(asked.place), span)) places.push_back(asked.place);
      }
      if (places.size() > plan.others.size()) std::sort(places.begin(), places.end());
      part.keep(span, {from, row.shape()}, places);
    }
  }

  const OpTrace& trace_;
  const Spans& spans_;
  const Arguments& arguments_;
  std::vector<Plan> plans_;  // by shape
};

}  // namespace

Arguments take_own_arguments(OpTrace& trace, const Spans& spans, const StringPool& strings) {
  Arguments own = OwnArguments(trace, spans, strings).take();
  trace.events.slices.arguments = {};
  return own;
}

}  // namespace npuscope::qnn
