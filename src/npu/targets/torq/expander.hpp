// What the stages of each kind of operation are, of what stage_maker.hpp makes. Private to
// stages.hpp: images in expand_images.cpp, expand_frames.cpp, expand_phases.cpp,
// expand_grouped.cpp, expand_pooling.cpp and, several in one tile, expand_together.cpp; products in
// expand_gemm.cpp and expand_products.cpp; elementwise work in expand_values.cpp, functions that
// are chains of kernels in expand_functions.cpp, those of rows in expand_rows.cpp and
// expand_softmax.cpp, what the CSS computes in expand_css.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/arithmetic.hpp"
#include "npu/targets/torq/stage_maker.hpp"

namespace npuscope::npu::torq {

// At least 1; of an attribute's numbers.
std::uint64_t largest_of(const std::vector<std::int64_t>& values, std::int64_t otherwise);

// Zeros before and behind data of `in` places, of which windows reach over `reached`.
std::uint64_t pads_of(const Node& node, std::size_t side, std::uint64_t reached, std::uint64_t in);

struct Rows {
  std::uint64_t count = 1, length = 1;
};
// Of a tensor from this side on; from the last where it is negative.
Rows rows_of(const Shape& shape, std::int64_t axis);

class Expander : StageMaker {
 public:
  using StageMaker::StageMaker;
  Result<Stages> run();

 private:
  // What is known of an operation before any stage is made.
  struct Plan {
    std::uint64_t ways = 1;    // slices that share it
    bool reads_parts = false;  // each call of it a part of the data
    bool on_host = false;      // its smallest tile does not fit LRAM
    std::optional<ImageShape> image;
    std::uint64_t frame = 0;   // bytes of an image of constants that its data go into
    std::uint64_t turned = 0;  // elements that change places so that strides become channels
    std::uint64_t turning_ways = 1;
    bool turns_pairs = false;  // of elements
    bool is_row = false;       // one column
    // Each slice makes that itself, of what it reads.
    bool frames_apart() const { return frame > 0 && image->framed && ways > 1 && cut == TileCut{}; }
    TileCut cut;
    // Cut by rows together: the operation whose data are what this one makes, and the other way
    // round.
    std::optional<std::size_t> reader, writer;
  };

  // Where data are: decided for all operations before their stages.
  void plan(std::size_t index);
  void plan_image(const Operation& operation, Plan& plan);
  void plan_together(std::size_t last);
  std::optional<std::size_t> writer_together(std::size_t index) const;
  void plan_gaps(const Node& node, Plan& plan, ImageShape& shape) const;
  void plan_odd(const Node& node, Plan& plan, ImageShape& shape) const;
  void plan_phases(const Node& node, Plan& plan, ImageShape& shape) const;
  void leave_to_host(const Operation& operation, Plan& plan, std::string_view why);
  bool reads_in_parts(std::size_t index) const;
  std::uint64_t ways_of(std::size_t index) const;
  bool goes_into_product(std::size_t index) const;
  bool takes_function(std::size_t index) const;
  void decide_outside();

  void expand(std::size_t index);

  // A share of the elements of elementwise work, as large as fits LRAM.
  struct ElementTile {
    std::uint64_t elements = 0, bytes = 0;
    std::uint64_t ways = 1;  // slices that share it
    std::vector<std::uint32_t> data;
  };
  std::uint64_t cut_of_elements(const Operation& operation) const;
  void for_tiles(const std::function<void(const ElementTile&)>& make);

  // Images
  void image(const Plan& plan);
  void image_rows(const Plan& plan, std::uint32_t data, std::uint64_t channels, std::uint64_t r);
  void image_rows_together(std::uint64_t channels, std::uint64_t r);
  bool takes_in_first_tile();
  bool joins_first_tile(const std::function<void(std::uint64_t)>& make);
  void image_tile(const Plan& plan, std::uint32_t from, std::uint64_t channels, std::uint64_t rows,
                  std::uint64_t rows_read, bool is_segmented, bool loads_weights);
  std::uint32_t made_even(std::uint32_t from, std::uint64_t read, std::uint64_t made);
  std::uint32_t segmented(std::uint32_t from, std::uint64_t channels, std::uint64_t rows,
                          std::uint64_t columns, std::uint64_t ways, bool is_framed);
  std::uint32_t framed(const Plan& plan);
  std::uint32_t phases(const Plan& plan, std::uint32_t from);
  bool exceeds_results(const Plan& plan) const;
  void image_in_float(const Plan& plan, std::uint32_t from);
  void store_all_of_result();
  void max_pooling(const Plan& plan);
  void max_pooling_in_float(const ImageShape& shape);
  void max_pooling_of_bytes(const ImageShape& shape);
  void max_pooling_of_channels(const ImageShape& shape, std::uint64_t channels,
                               std::uint64_t bytes);
  bool is_pooled_in_float(std::size_t index) const;
  void global_average();

  // Of groups of channels, and of wide windows
  struct GroupedShape {
    std::uint64_t groups = 1, channels = 1, results = 1;  // of a group
    std::uint64_t window_area = 1, pixels = 1;
    std::uint64_t area_read = 1;  // that windows reach over
  };
  void grouped();
  void grouped_by_host(std::uint64_t channels, bool begins_as_zeros);
  void bias_in_float(std::uint64_t channels);
  void grouped_by_css(const GroupedShape& shape);

  // Of the CSS
  void css();
  void css_elements(std::uint64_t programs, std::uint64_t code);
  void batch_normalization();
  void local_normalization();
  void sums_of_neighbours(std::uint64_t neighbours);

  // Products
  struct Product;
  void product();
  void matmul();
  using StageMaker::shares_of;
  std::pair<Product, Product> shares_of(const Product& product);
  void multiply(const Product& product, std::uint32_t into);
  void multiply_evenly(const Product& product, std::uint32_t into);
  bool fits(const Product& product) const;
  Product tile_of(const Product& product, bool is_constant) const;
  void batches_apart(const Product& product);
  std::uint32_t spread(const Product& product, bool alone, const std::vector<std::uint64_t>& parts);
  Product tile_of_spread(const Product& product) const;
  void matmul_by_spread(const Product& all);

  // Elementwise work
  void elementwise(SliceKernel kernel);
  void elements_of(SliceKernel kernel);
  void around_host(const std::function<void()>& make);
  void sum();
  void multiplication();
  std::optional<std::size_t> smaller_input() const;
  bool reduces_last() const;
  void enlarge();
  void transpose();
  bool turns_in_float(const Operation& operation) const;
  void turn();
  void reduction(SliceKernel kernel);
  bool reads_in_place(const Operation& operation) const;
  void copy();
  void moves();
  void gather();

  // Functions as chains of kernels
  void sigmoid();
  void square_root();
  void square_root_by_parts();
  void division();
  void error_function();
  void softmax();
  void layer_normalization();
  void means_in_float();
  std::uint32_t row_means(std::uint32_t from, std::uint64_t count, std::uint64_t length);
  std::uint32_t sums_by_host(std::uint64_t rows, std::uint64_t bytes);
  bool css_holds_softmax(const Operation& operation) const;
  void softmax_in_float();
  void softmax_of_columns();

  const Plan& plan() const { return plans_[at_]; }

  std::vector<Plan> plans_ = std::vector<Plan>(lowering_.operations.size());
};

}  // namespace npuscope::npu::torq
