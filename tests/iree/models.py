"""ONNX models, which `iree-import-onnx` turns into MLIR: made here, with random weights."""

import numpy as np
import onnx
from onnx import TensorProto, helper


class Graph:
    """An ONNX graph that grows by one node per call."""

    def __init__(self, shape):
        self.nodes, self.weights, self.shape = [], [], shape
        self.random = np.random.default_rng(3)

    def weight(self, *shape, scale=None):
        value = self.random.standard_normal(shape).astype("f4") * (scale or shape[0] ** -0.5)
        return self.constant(value)

    def constant(self, value):
        name = f"w{len(self.weights)}"
        self.weights.append(onnx.numpy_helper.from_array(np.asarray(value), name))
        return name

    def add(self, operation, *inputs, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(operation, inputs, [name], **attributes))
        return name

    def linear(self, x, width_in, width_out):
        product = self.add("MatMul", x, self.weight(width_in, width_out))
        return self.add("Add", product, self.weight(width_out, scale=0.1))

    def save(self, path, result, result_shape):
        self.nodes.append(helper.make_node("Identity", [result], ["y"]))
        graph = helper.make_graph(
            self.nodes, "model", [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, result_shape)], self.weights)  # fmt: skip
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model)
        onnx.save(model, path)


def convolutional(path):
    """Two convolutions, pooling, and a classifier of ten classes, of one image of 3 x 32 x 32."""
    g = Graph([1, 3, 32, 32])
    x = "x"
    for channels_in, channels in ((3, 8), (8, 16)):
        x = g.add("Conv", x, g.weight(channels, channels_in, 3, 3, scale=0.2), pads=[1, 1, 1, 1])
        x = g.add("MaxPool", g.add("Relu", x), kernel_shape=[2, 2], strides=[2, 2])
    x = g.linear(g.add("Flatten", x), 16 * 8 * 8, 10)
    g.save(path, g.add("Softmax", x, axis=1), [1, 10])
    return [(1, 3, 32, 32)]


def transformer(path, rows=32, width=64, heads=4):
    """One block of a transformer: normalisation, attention of several heads, normalisation, two linear layers."""
    g = Graph([rows, width])

    def normal(x):
        return g.add("LayerNormalization", x, g.constant(np.ones(width, "f4")), g.constant(np.zeros(width, "f4")), axis=-1)

    def split(x):
        parts = g.add("Reshape", x, g.constant(np.array([rows, heads, width // heads])))
        return g.add("Transpose", parts, perm=[1, 0, 2])

    n = normal("x")
    q, k, v = (split(g.linear(n, width, width)) for _ in range(3))
    scores = g.add("MatMul", q, g.add("Transpose", k, perm=[0, 2, 1]))
    weights = g.add("Softmax", g.add("Mul", scores, g.constant(np.float32((width // heads) ** -0.5))), axis=-1)
    together = g.add("Transpose", g.add("MatMul", weights, v), perm=[1, 0, 2])
    x = g.add("Add", "x", g.linear(g.add("Reshape", together, g.constant(np.array([rows, width]))), width, width))
    hidden = g.add("Relu", g.linear(normal(x), width, 4 * width))
    g.save(path, g.add("Add", x, g.linear(hidden, 4 * width, width)), [rows, width])
    return [(rows, width)]


MODELS = {"convolutional": convolutional, "transformer": transformer}
