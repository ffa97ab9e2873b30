"""A block of a transformer in MLIR, written with linalg as a front end would: normalisation, attention of several heads,
normalisation, two linear layers, each half added to what came in."""


class Function:
    """Statements of one function, each with a new name for its value."""

    def __init__(self):
        self.lines = []
        self.types = {}

    def value(self, text, type_):
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        self.types[name] = type_
        return name

    def filled(self, *shape):
        type_ = tensor(*shape)
        zero = self.value("arith.constant 0.0 : f32", "f32")
        empty = self.value(f"tensor.empty() : {type_}", type_)
        return self.value(f"linalg.fill ins({zero} : f32) outs({empty} : {type_}) -> {type_}", type_)

    def product(self, a, b, *shape, batch=False):
        start = self.filled(*shape)
        name = "linalg.batch_matmul" if batch else "linalg.matmul"
        return self.value(f"{name} ins({a}, {b} : {self.types[a]}, {self.types[b]}) outs({start} : {tensor(*shape)}) "
                          f"-> {tensor(*shape)}", tensor(*shape))  # fmt: skip

    def each(self, body, result, maps, inputs, *shape, iterators=None):
        """Element by element; the body has arguments %a, %b ... and, last, %out."""
        out = self.filled(*shape)
        names = [f"%{letter}" for letter in "abcd"[: len(inputs)]] + ["%out"]
        kinds = ", ".join(f'"{kind}"' for kind in iterators or ["parallel"] * len(shape))
        arguments = ", ".join(f"{name}: f32" for name in names)
        text = (f"linalg.generic {{indexing_maps = [{', '.join(f'affine_map<{one}>' for one in maps)}], "
                f"iterator_types = [{kinds}]}} ins({', '.join(inputs)} : {', '.join(self.types[i] for i in inputs)}) "
                f"outs({out} : {tensor(*shape)}) {{\n    ^bb0({arguments}):\n      {body}\n      linalg.yield {result} : f32\n"
                f"  }} -> {tensor(*shape)}")  # fmt: skip
        return self.value(text, tensor(*shape))

    def normalised(self, x, rows, width):
        squares = self.each("%s = arith.mulf %a, %a : f32\n      %t = arith.addf %s, %out : f32", "%t",
                            ["(i, j) -> (i, j)", "(i, j) -> (i)"], [x], rows, iterators=["parallel", "reduction"])  # fmt: skip
        return self.each(f"%w = arith.constant {float(width)} : f32\n      %m = arith.divf %b, %w : f32\n"
                         "      %e = arith.constant 1.0e-5 : f32\n      %n = arith.addf %m, %e : f32\n"
                         "      %r = math.rsqrt %n : f32\n      %t = arith.mulf %a, %r : f32", "%t",
                         ["(i, j) -> (i, j)", "(i, j) -> (i)", "(i, j) -> (i, j)"], [x, squares], rows, width)  # fmt: skip

    def sum(self, x, y, rows, width):
        same = ["(i, j) -> (i, j)"] * 3
        return self.each("%t = arith.addf %a, %b : f32", "%t", same, [x, y], rows, width)

    def in_heads(self, x, rows, heads, width, order):
        """Columns divided among the heads; `order` of (row, head, column)."""
        split = self.value(f"tensor.expand_shape {x} [[0], [1, 2]] output_shape [{rows}, {heads}, {width}] : "
                           f"{self.types[x]} into {tensor(rows, heads, width)}", tensor(rows, heads, width))  # fmt: skip
        shape = [(rows, heads, width)[n] for n in order]
        return self.turned(split, shape, order)

    def turned(self, x, shape, order):
        empty = self.value(f"tensor.empty() : {tensor(*shape)}", tensor(*shape))
        return self.value(f"linalg.transpose ins({x} : {self.types[x]}) outs({empty} : {tensor(*shape)}) "
                          f"permutation = {list(order)}", tensor(*shape))  # fmt: skip


def tensor(*shape):
    return f"tensor<{'x'.join(map(str, shape))}xf32>"


def transformer(rows, width, heads):
    """(MLIR, shapes of the inputs): rows of the sequence, and the weights."""
    head, wide = width // heads, 4 * width
    shapes = [(rows, width), *[(width, width)] * 4, (width, wide), (wide, width)]
    f = Function()
    inputs = [f"%i{n}" for n in range(len(shapes))]
    f.types.update((name, tensor(*shape)) for name, shape in zip(inputs, shapes))
    x, wq, wk, wv, wo, w1, w2 = inputs
    normal = f.normalised(x, rows, width)
    q, k, v = (f.product(normal, weight, rows, width) for weight in (wq, wk, wv))
    q, k, v = (f.in_heads(part, rows, heads, head, order) for part, order in ((q, (1, 0, 2)), (k, (1, 2, 0)), (v, (1, 0, 2))))
    scores = f.product(q, k, heads, rows, rows, batch=True)
    scaled = f.each(f"%s = arith.constant {head**-0.5} : f32\n      %t = arith.mulf %a, %s : f32", "%t",
                    ["(h, i, j) -> (h, i, j)"] * 2, [scores], heads, rows, rows)  # fmt: skip
    empty = f.value(f"tensor.empty() : {tensor(heads, rows, rows)}", tensor(heads, rows, rows))
    weights = f.value(f"linalg.softmax dimension(2) ins({scaled} : {tensor(heads, rows, rows)}) "
                      f"outs({empty} : {tensor(heads, rows, rows)}) -> {tensor(heads, rows, rows)}",
                      tensor(heads, rows, rows))  # fmt: skip
    mixed = f.turned(f.product(weights, v, heads, rows, head, batch=True), (rows, heads, head), (1, 0, 2))
    flat = f.value(f"tensor.collapse_shape {mixed} [[0], [1, 2]] : {tensor(rows, heads, head)} into {tensor(rows, width)}",
                   tensor(rows, width))  # fmt: skip
    x = f.sum(x, f.product(flat, wo, rows, width), rows, width)
    inner = f.product(f.normalised(x, rows, width), w1, rows, wide)
    positive = f.each("%z = arith.constant 0.0 : f32\n      %t = arith.maximumf %a, %z : f32", "%t",
                      ["(i, j) -> (i, j)"] * 2, [inner], rows, wide)  # fmt: skip
    x = f.sum(x, f.product(positive, w2, rows, width), rows, width)
    arguments = ", ".join(f"{name}: {tensor(*shape)}" for name, shape in zip(inputs, shapes))
    return "\n".join([f"func.func @main({arguments}) -> {tensor(rows, width)} {{", *f.lines,
                      f"  return {x} : {tensor(rows, width)}", "}"]), shapes  # fmt: skip
