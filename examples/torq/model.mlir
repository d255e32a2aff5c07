module {
  func.func @main(%arg0: tensor<1x64x64x16xi16>, %arg1: tensor<4x3x3x16xi8>) -> tensor<1x16x16x4xi16> {
    %0 = tosa.conv2d %arg0, %arg1 {stride = array<i64: 4, 4>} : (tensor<1x64x64x16xi16>, tensor<4x3x3x16xi8>) -> tensor<1x16x16x4xi16>
    return %0 : tensor<1x16x16x4xi16>
  }
}
