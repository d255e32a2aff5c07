module {
  func.func @main(%arg0: tensor<64xi8>, %arg1: tensor<64xi8>) -> tensor<64xi8> {
    %0 = tosa.conv2d %arg0, %arg1 : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
    %1 = "tosa.add"(%0, %arg1) : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
    %2:1 = torch.operator "onnx.Relu"(%1) : (tensor<64xi8>) -> tensor<64xi8>
    return %2#0 : tensor<64xi8>
  }
}
