module {
  func.func @net(%arg0: !torch.vtensor<[1,4,8,8],si8>) -> !torch.vtensor<[1,10],si8> {
    %0 = torch.operator "onnx.Constant"() : () -> !torch.vtensor<[],f32>
    %1 = torch.operator "onnx.Conv"(%arg0, %0) : (!torch.vtensor<[1,4,8,8],si8>, !torch.vtensor<[],f32>) -> !torch.vtensor<[1,8,8,8],si8>
    %2 = torch.operator "onnx.MaxPool"(%1) : (!torch.vtensor<[1,8,8,8],si8>) -> !torch.vtensor<[1,8,4,4],si8>
    %3 = torch.operator "onnx.Conv"(%2, %0) : (!torch.vtensor<[1,8,4,4],si8>, !torch.vtensor<[],f32>) -> !torch.vtensor<[1,8,4,4],si8>
    %4 = torch.operator "onnx.Sigmoid"(%3) : (!torch.vtensor<[1,8,4,4],si8>) -> !torch.vtensor<[1,8,4,4],si8>
    return %4 : !torch.vtensor<[1,8,4,4],si8>
  }
}
