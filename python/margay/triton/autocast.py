"""torch.autocast("cuda"): CPU tensors are cast as a GPU's would be.

The CPU's autocast has another default type and another list of operations. This takes the GPU's default (float16),
says to programs that the GPU's autocast is on, and has the operations that a GPU does in float32 done so.
"""

import functools

# Source: torch's documentation of torch.amp, "CUDA Ops that can autocast to float32". Overridable functions that are
# called from inside of torch's own Python are not seen, such as the softmax of nn.MultiheadAttention.
_IN_FLOAT32 = frozenset(
    """__pow__ __rdiv__ __rpow__ __rtruediv__ acos asin binary_cross_entropy_with_logits cosh cosine_embedding_loss
    cdist cosine_similarity cross_entropy cumprod cumsum dist erfinv exp expm1 group_norm hinge_embedding_loss kl_div
    l1_loss layer_norm log log10 log_softmax log1p log2 margin_ranking_loss mse_loss multilabel_margin_loss
    multi_margin_loss nll_loss norm normalize pdist poisson_nll_loss pow prod reciprocal rsqrt sinh smooth_l1_loss
    soft_margin_loss softmax softmin softplus sum renorm tan triplet_margin_loss""".split()
)


def replace(torch):
    """In torch 2.4 and newer; older ones have no name for the autocast of a device."""
    autocast = getattr(getattr(torch, "amp", None), "autocast_mode", None)
    if autocast is None:
        return
    if hasattr(torch, "get_autocast_dtype"):
        _replace_class(torch, autocast.autocast)
    else:
        begin = autocast.autocast.__init__

        def init(context, device_type, *args, **kwargs):
            begin(context, "cpu" if device_type == "cuda" else device_type, *args, **kwargs)

        autocast.autocast.__init__ = init


def _replace_class(torch, autocast):
    begin, enter, leave = autocast.__init__, autocast.__enter__, autocast.__exit__
    operations = _mode(torch)

    @functools.wraps(begin)
    def init(context, device_type, dtype=None, enabled=True, cache_enabled=None):
        context._margay_cuda = device_type == "cuda"
        if not context._margay_cuda:
            begin(context, device_type, dtype, enabled, cache_enabled)
            return
        dtype = torch.get_autocast_dtype("cuda") if dtype is None else dtype
        # The CPU's refuses float32, which a GPU's takes.
        begin(context, "cpu", torch.float16, enabled, cache_enabled)
        context.fast_dtype = dtype

    @functools.wraps(enter)
    def entered(context):
        if context._margay_cuda:
            context._margay_before = torch.is_autocast_enabled("cuda"), torch.get_autocast_dtype("cuda")
            torch.set_autocast_enabled("cuda", context._enabled)
            torch.set_autocast_dtype("cuda", context.fast_dtype)
            context._margay_operations = operations()
            context._margay_operations.__enter__()
        return enter(context)

    @functools.wraps(leave)
    def left(context, *error):
        result = leave(context, *error)
        if context._margay_cuda:
            context._margay_operations.__exit__(*error)
            torch.set_autocast_enabled("cuda", context._margay_before[0])
            torch.set_autocast_dtype("cuda", context._margay_before[1])
        return result

    autocast.__init__, autocast.__enter__, autocast.__exit__ = init, entered, left


def _mode(torch):
    narrow = (torch.float16, torch.bfloat16)

    def widened(value):
        return value.float() if isinstance(value, torch.Tensor) and value.dtype in narrow else value

    class Operations(torch.overrides.TorchFunctionMode):
        """Does in float32 what a GPU's autocast does in float32."""

        def __torch_function__(self, function, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            if getattr(function, "__name__", "") in _IN_FLOAT32 and torch.is_autocast_enabled("cuda"):
                args = tuple(map(widened, args))
                kwargs = {name: widened(value) for name, value in kwargs.items()}
            return function(*args, **kwargs)

    return Operations


def widens(torch):
    """Whether a normalisation's result stays in float32 now."""
    return hasattr(torch, "get_autocast_dtype") and torch.is_autocast_enabled("cuda")
