// Multiply-accumulates of the matrix ops of a profile, for formats that do not count them, from the
// shapes of their operands:
//
//   product with weights (Conv, FullyConnected, MatMul)   |output| x |weights| / output channels
//   product of two activations (MatMul)                   |output| x columns of the first input
//
// where |x| is the number of elements. The output channels are a dimension of the output (the last,
// or the second where the weights' first is equal to it) or the length of the bias, and the first
// or last dimension of the weights; the rows of two activations must agree. Where they do not, or a
// depth is no whole number, the shapes are not what they seem: no figure.
//
// Cloud AI 100 names the operands of each task (Op::operand_list): rows x depth and depth x columns
// in any order of dimensions, and of convolutions channels by channels. An operator of several
// products (attention, recurrent cells) has more operands than that: no figure.
//
//   const OpMacs macs(profile);
//   macs.of(op)       16777216     q::ConvLayer_s1.opt [1,8,32,256] with weights of 65,536
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "npuscope/profile/profile.hpp"

namespace npuscope::analysis {

class OpMacs {
 public:
  explicit OpMacs(const Profile& profile);

  // Of one execution; none for ops that are no products and where shapes do not tell.
  std::optional<double> of(OpId op) const {
    const std::size_t place = index_of(op);
    if (place >= of_op_.size() || of_op_[place] < 0) return std::nullopt;
    return of_op_[place];
  }
  Origin origin() const { return origin_; }
  bool any() const { return any_; }
  // Ops of the HMX of which nothing is known.
  std::uint64_t unknown() const { return unknown_; }

 private:
  void take_measures();
  void take_tensors();
  void take_operands();

  const Profile& profile_;
  std::vector<double> of_op_;  // negative: unknown
  Origin origin_ = Origin::derived;
  bool any_ = false;
  std::uint64_t unknown_ = 0;
};

}  // namespace npuscope::analysis
