// Recurrent layers: the products with the inputs of all steps at once, or step by step as QNN has
// those of an LSTM, then step after step what needs the state before it.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "npu/graph/limits.hpp"
#include "npu/graph/operation.hpp"
#include "npu/graph/parts/parts.hpp"

namespace npuscope::npu {
namespace {

constexpr std::int64_t max_steps = 4096;  // each is some twenty nodes

// x [T, B, I], w [directions, gates * H, I], r [directions, gates * H, H], bias, lengths (every
// step of a batch costs the same), initial state, initial cell.
class RecurrentParts {
 public:
  RecurrentParts(Parts& parts, const Node& node) : parts_(parts), node_(node) {
    for (const std::size_t i : {0, 1, 2}) {
      if (input_of(node, i) == TensorId::none || parts.shape(input_of(node, i)).size() != 3)
        fail("it lacks its input {}", i);
    }
    const Shape x = parts.shape(node.inputs[0]);
    const Shape r = parts.shape(node.inputs[2]);
    batch_first_ = node.int_attribute("layout", 0) != 0;
    steps_ = x[batch_first_ ? 1 : 0];
    batch_ = x[batch_first_ ? 0 : 1];
    depth_ = x[2];
    directions_ = r[0];
    hidden_ = r[2];
    gates_ = node.op == "LSTM" ? 4 : node.op == "GRU" ? 3 : 1;
    type_ = parts[node.inputs[0]].type;
    const bool known = parts[node.inputs[1]].constant && parts[node.inputs[2]].constant;
    const bool fits = steps_ >= 1 && steps_ <= max_steps && batch_ >= 1 && hidden_ >= 1 &&
                      depth_ >= 1 && directions_ >= 1 && directions_ <= 2 &&
                      r[1] == npu::multiply(gates_, hidden_);
    if (!known || !fits) fail("its sizes or weights are of a form that is not taken apart");
  }

  void make() {
    std::vector<TensorId> all, last, cells;
    for (std::int64_t direction = 0; direction < directions_; ++direction) {
      const bool reverse =
          direction == 1 || node_.string_attribute("direction", "forward") == "reverse";
      run(direction, reverse);
      if (output_of(node_, 0) != TensorId::none) all.push_back(join_steps(reverse));
      last.push_back(state_);
      cells.push_back(cell_);
    }
    join("sequence", all, batch_first_ ? 2 : 1, output_of(node_, 0));
    join("last_state", last, batch_first_ ? 1 : 0, output_of(node_, 1));
    if (node_.op == "LSTM") join("last_cell", cells, batch_first_ ? 1 : 0, output_of(node_, 2));
  }

 private:
  // The columns of one unit's gates are next to each other, so that a core can have units of its
  // own.
  void run(std::int64_t direction, bool reverse) {
    const std::int64_t columns = gates_ * hidden_;
    tag_ = directions_ > 1 ? (direction == 0 ? "forward_" : "reverse_") : "";
    const bool apart = node_.op == "LSTM" && parts_.gates() == Gates::apart;
    std::vector<TensorId> x;
    x.push_back(apart ? node_.inputs[0] : input_product("", columns, node_.inputs[0]));
    state_ = initial("state", 5, direction);
    cell_ = node_.op == "LSTM" ? initial("cell", 6, direction) : TensorId::none;
    states_.clear();
    const std::int64_t axis = batch_first_ ? 1 : 0;
    for (std::int64_t i = 0; i < steps_; ++i) {
      const std::int64_t t = reverse ? steps_ - 1 - i : i;
      std::vector<TensorId> own;
      for (const TensorId each : x) {
        const TensorId slice = parts_.add(
            tag_ + "step", "Slice",
            {each, parts_.integers({t}), parts_.integers({t + 1}), parts_.integers({axis})});
        own.push_back(
            parts_.reshape(tag_ + "step_input", slice, {batch_, parts_.shape(slice).back()}));
      }
      if (apart) {
        const TensorId step = std::exchange(own, {})[0];
        for (std::int64_t gate = 0; gate < gates_; ++gate)
          own.push_back(input_product(of_gate(gate), hidden_, step));
        long_short_term_apart(own);
      } else if (node_.op == "LSTM") {
        long_short_term(own[0]);
      } else if (node_.op == "GRU") {
        gated(own[0]);
      } else {
        state_ = parts_.add(tag_ + "state", "Tanh", {add(own[0], multiplied(state_, "", gates_))});
      }
      states_.push_back(state_);
    }
  }

  static std::string of_gate(std::int64_t gate) { return fmt::format("_{}", gate); }

  // Of all steps; of each by itself where gates are apart.
  TensorId input_product(const std::string& of, std::int64_t columns, TensorId inputs) {
    const TensorId weights = own_constant("weights" + of, {depth_, columns});
    const TensorId x = parts_.add(tag_ + "inputs" + of, "MatMul", {inputs, weights});
    // Of a step by itself the sum with the state's product adds it.
    const bool is_of_all = inputs == node_.inputs[0];
    if (input_of(node_, 3) == TensorId::none || !is_of_all) return x;
    return parts_.add(tag_ + "inputs_bias" + of, "Add", {x, own_constant("bias" + of, {columns})});
  }

  TensorId own_constant(std::string_view name, const Shape& shape) {
    return parts_.constant(node_.name + "/" + tag_ + std::string(name), type_, shape);
  }

  TensorId initial(const std::string& name, std::size_t i, std::int64_t direction) {
    const Shape shape{batch_, hidden_};
    const TensorId given = input_of(node_, i);
    if (given == TensorId::none) return parts_.zeros(tag_ + "initial_" + name, type_, shape);
    const TensorId own =
        directions_ == 1
            ? given
            : parts_.add(tag_ + "initial_" + name, "Slice",
                         {given, parts_.integers({direction}), parts_.integers({direction + 1}),
                          parts_.integers({batch_first_ ? 1 : 0})});
    return parts_.reshape(tag_ + "initial_" + name, own, shape);
  }

  // With the weights of so many gates.
  TensorId multiplied(TensorId state, const std::string& of, std::int64_t gates) {
    return parts_.add(tag_ + "recurrence" + of, "MatMul",
                      {state, own_constant("recurrence_weights" + of, {hidden_, gates * hidden_})});
  }

  TensorId add(TensorId a, TensorId b) { return parts_.add(tag_ + "sum", "Add", {a, b}); }
  TensorId multiply(TensorId a, TensorId b) { return parts_.add(tag_ + "product", "Mul", {a, b}); }
  TensorId activate(const char* op, TensorId x) { return parts_.add(tag_ + "gate", op, {x}); }
  // Of a sum that nothing else reads; gates with products of their own are activated with it.
  TensorId activate_gate(const char* op, TensorId x) {
    if (parts_.gates() == Gates::joined) return activate(op, x);
    return parts_.add(tag_ + "gate", op, {x}, {{"with_sum", std::int64_t{1}}});
  }

  // Of all gates of the units [B, gates * H], each [B, H].
  std::vector<TensorId> gates_of(TensorId x, std::int64_t gates) {
    const TensorId apart = parts_.reshape(tag_ + "units", x, {batch_, hidden_, gates});
    auto each = parts_.split(tag_ + "gate_of", apart, 2, std::vector<std::int64_t>(gates, 1));
    for (TensorId& gate : each) gate = parts_.reshape(tag_ + "gate_units", gate, {batch_, hidden_});
    return each;
  }

  void long_short_term_apart(const std::vector<TensorId>& x) {
    std::vector<TensorId> gate;
    for (std::size_t i = 0; i < x.size(); ++i)
      gate.push_back(add(x[i], multiplied(state_, of_gate(std::int64_t(i)), 1)));
    step_of(gate);
  }

  void long_short_term(TensorId x) {
    step_of(gates_of(add(x, multiplied(state_, "", gates_)), gates_));
  }

  void step_of(const std::vector<TensorId>& gate) {
    const TensorId kept = multiply(activate_gate("Sigmoid", gate[2]), cell_);
    const TensorId fresh =
        multiply(activate_gate("Sigmoid", gate[0]), activate_gate("Tanh", gate[3]));
    cell_ = parts_.add(tag_ + "cell", "Add", {kept, fresh});
    state_ = parts_.add(tag_ + "state", "Mul",
                        {activate_gate("Sigmoid", gate[1]), activate("Tanh", cell_)});
  }

  void gated(TensorId x) {
    const auto from_input = gates_of(x, gates_);
    TensorId update, fresh;
    if (node_.int_attribute("linear_before_reset", 0) != 0) {
      const auto from_state = gates_of(multiplied(state_, "", gates_), gates_);
      update = activate("Sigmoid", add(from_input[0], from_state[0]));
      const TensorId reset = activate("Sigmoid", add(from_input[1], from_state[1]));
      fresh = activate("Tanh", add(from_input[2], multiply(reset, from_state[2])));
    } else {
      const auto from_state = gates_of(multiplied(state_, "_of_gates", 2), 2);
      update = activate("Sigmoid", add(from_input[0], from_state[0]));
      const TensorId reset = activate("Sigmoid", add(from_input[1], from_state[1]));
      const TensorId seen = multiplied(multiply(reset, state_), "", 1);
      fresh = activate("Tanh", add(from_input[2], seen));
    }
    const TensorId change = parts_.add(tag_ + "change", "Sub", {state_, fresh});
    state_ = parts_.add(tag_ + "state", "Add", {fresh, multiply(update, change)});
  }

  TensorId join_steps(bool reverse) {
    std::vector<TensorId> states;
    const Shape one = batch_first_ ? Shape{batch_, 1, 1, hidden_} : Shape{1, 1, batch_, hidden_};
    for (const TensorId state : states_)
      states.push_back(parts_.reshape(tag_ + "output", state, one));
    if (reverse) std::ranges::reverse(states);
    if (states.size() == 1) return states[0];
    return parts_.add(tag_ + "outputs", "Concat", states,
                      {{"axis", std::int64_t{batch_first_ ? 1 : 0}}});
  }

  void join(const std::string& part, std::vector<TensorId> directions, std::int64_t axis,
            TensorId into) {
    if (into == TensorId::none) return;
    const Shape shape = parts_.shape(into);
    Shape one = shape;
    one[std::size_t(axis)] = 1;
    for (TensorId& each : directions) {
      if (directions.size() > 1) each = parts_.reshape(part + "_of_direction", each, one);
    }
    if (directions.size() > 1) {
      parts_.add(part, "Concat", directions, {{"axis", axis}}, into);
    } else {
      parts_.reshape(part, directions[0], shape, into);
    }
  }

  Parts& parts_;
  const Node& node_;
  DataType type_ = DataType::undefined;
  bool batch_first_ = false;
  std::int64_t steps_ = 0, batch_ = 0, depth_ = 0, hidden_ = 0, directions_ = 0, gates_ = 0;
  std::string tag_;
  TensorId state_ = TensorId::none, cell_ = TensorId::none;
  std::vector<TensorId> states_;
};

}  // namespace

void make_recurrent(Parts& parts, const Node& node) { RecurrentParts(parts, node).make(); }

}  // namespace npuscope::npu
