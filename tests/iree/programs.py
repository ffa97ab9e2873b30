"""What the tests compile: functions in MLIR, with the shapes and element types of their inputs."""

import dataclasses
import importlib.metadata

import numpy as np
from transformer import transformer


@dataclasses.dataclass
class Program:
    """One function `main`; `inputs`: shape and type of each. Results may differ by `tolerance`, relative and absolute."""

    mlir: str
    inputs: list
    tolerance: float = 1e-4

    def values(self):
        random = np.random.default_rng(7)
        return [random.standard_normal(shape).astype(kind) if np.dtype(kind).kind == "f"
                else random.integers(-8, 8, shape).astype(kind) for shape, kind in self.inputs]  # fmt: skip


def matmul(m, n, k, kind, result, zero):
    a, b, c = f"tensor<{m}x{k}x{kind}>", f"tensor<{k}x{n}x{kind}>", f"tensor<{m}x{n}x{result}>"
    return f"""
func.func @main(%a: {a}, %b: {b}) -> {c} {{
  %zero = arith.constant {zero} : {result}
  %empty = tensor.empty() : {c}
  %start = linalg.fill ins(%zero : {result}) outs(%empty : {c}) -> {c}
  %product = linalg.matmul ins(%a, %b : {a}, {b}) outs(%start : {c}) -> {c}
  return %product : {c}
}}"""


SOFTMAX = """
func.func @main(%x: tensor<64x512xf32>) -> tensor<64x512xf32> {
  %empty = tensor.empty() : tensor<64x512xf32>
  %y = linalg.softmax dimension(1) ins(%x : tensor<64x512xf32>) outs(%empty : tensor<64x512xf32>)
      -> tensor<64x512xf32>
  return %y : tensor<64x512xf32>
}"""

CONVOLUTION = """
func.func @main(%x: tensor<1x16x18x18xf32>, %w: tensor<32x16x3x3xf32>) -> tensor<1x32x16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x32x16x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x32x16x16xf32>) -> tensor<1x32x16x16xf32>
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x16x18x18xf32>, tensor<32x16x3x3xf32>)
      outs(%start : tensor<1x32x16x16xf32>) -> tensor<1x32x16x16xf32>
  return %y : tensor<1x32x16x16xf32>
}"""

# Heads of 128 rows of 64: the scores of each, their softmax, and the sum of values that they weigh.
ATTENTION = """
#rows = affine_map<(h, m, n) -> (h, m, n)>
func.func @main(%q: tensor<4x128x64xf32>, %k: tensor<4x64x128xf32>, %v: tensor<4x128x64xf32>)
    -> tensor<4x128x64xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.125 : f32
  %scores_empty = tensor.empty() : tensor<4x128x128xf32>
  %scores_start = linalg.fill ins(%zero : f32) outs(%scores_empty : tensor<4x128x128xf32>) -> tensor<4x128x128xf32>
  %scores = linalg.batch_matmul ins(%q, %k : tensor<4x128x64xf32>, tensor<4x64x128xf32>)
      outs(%scores_start : tensor<4x128x128xf32>) -> tensor<4x128x128xf32>
  %scaled = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%scores : tensor<4x128x128xf32>) outs(%scores_empty : tensor<4x128x128xf32>) {
    ^bb0(%s: f32, %unused: f32):
      %t = arith.mulf %s, %scale : f32
      linalg.yield %t : f32
  } -> tensor<4x128x128xf32>
  %weights = linalg.softmax dimension(2) ins(%scaled : tensor<4x128x128xf32>)
      outs(%scores_empty : tensor<4x128x128xf32>) -> tensor<4x128x128xf32>
  %empty = tensor.empty() : tensor<4x128x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x128x64xf32>) -> tensor<4x128x64xf32>
  %y = linalg.batch_matmul ins(%weights, %v : tensor<4x128x128xf32>, tensor<4x128x64xf32>)
      outs(%start : tensor<4x128x64xf32>) -> tensor<4x128x64xf32>
  return %y : tensor<4x128x64xf32>
}"""

# The same by IREE's own operation, which becomes one kernel. Version 3.13 writes its attribute in another way.
VERSION = tuple(map(int, importlib.metadata.version("iree-base-compiler").split(".")[:2]))
FUSED_ATTENTION = """
func.func @main(%q: tensor<4x128x64xf16>, %k: tensor<4x128x64xf16>, %v: tensor<4x128x64xf16>)
    -> tensor<4x128x64xf16> {
  %scale = arith.constant 0.125 : f16
  %empty = tensor.empty() : tensor<4x128x64xf16>
  %y = iree_linalg_ext.attention {indexing_maps = [
      affine_map<(h, m, n, k1, k2) -> (h, m, k1)>, affine_map<(h, m, n, k1, k2) -> (h, k2, k1)>,
      affine_map<(h, m, n, k1, k2) -> (h, k2, n)>, affine_map<(h, m, n, k1, k2) -> ()>,
      affine_map<(h, m, n, k1, k2) -> (h, m, n)>]}
      ins(%q, %k, %v, %scale : tensor<4x128x64xf16>, tensor<4x128x64xf16>, tensor<4x128x64xf16>, f16)
      outs(%empty : tensor<4x128x64xf16>) {
    ^bb0(%score: f32):
      iree_linalg_ext.yield %score : f32
  } -> tensor<4x128x64xf16>
  return %y : tensor<4x128x64xf16>
}"""
if VERSION >= (3, 13):
    FUSED_ATTENTION = FUSED_ATTENTION.replace("{indexing_maps", "<{indexing_maps").replace("]}\n", "]}>\n")

BLOCK, BLOCK_SHAPES = transformer(rows=64, width=128, heads=4)

PROGRAMS = {
    "matmul_f32": Program(matmul(96, 80, 64, "f32", "f32", "0.0"), [((96, 64), "f4"), ((64, 80), "f4")]),
    "matmul_f16": Program(matmul(128, 64, 256, "f16", "f32", "0.0"), [((128, 256), "f2"), ((256, 64), "f2")], 1e-3),
    "matmul_i8": Program(matmul(64, 128, 128, "i8", "i32", "0"), [((64, 128), "i1"), ((128, 128), "i1")], 0),
    "softmax": Program(SOFTMAX, [((64, 512), "f4")]),
    "convolution": Program(CONVOLUTION, [((1, 16, 18, 18), "f4"), ((32, 16, 3, 3), "f4")]),
    "attention": Program(ATTENTION, [((4, 128, 64), "f4"), ((4, 64, 128), "f4"), ((4, 128, 64), "f4")]),
    "fused_attention": Program(FUSED_ATTENTION, [((4, 128, 64), "f2")] * 3, 4e-3),
    "transformer": Program(BLOCK, [(shape, "f4") for shape in BLOCK_SHAPES]),
}
