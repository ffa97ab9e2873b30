"""Makes torch's "cuda" the virtual device: CPU tensors behind `device="cuda"`, `.cuda()` and `torch.cuda`.

Every CPU tensor then says that it is on cuda:0, because its memory is the virtual device's; what is
moved from one to the other is copied, as between a host and a device. What torch.compile is given runs as it
is; other code that makes programs for a real device is not served.
"""

import functools

from margay.triton import autocast, cuda_module, hip, operators, said

_MARK = "_margay_on_device"  # of tensors that were asked for on cuda: they need no copy to get there
_installed = False


def is_installed():
    return _installed


def install(torch):
    """Replaces what names devices in torch; nothing where torch has a real GPU."""
    global _installed  # pylint: disable=global-statement  # torch is one module
    if _installed:
        return
    if torch.cuda.is_available():
        said.once(
            "torch has a GPU of its own, so its \"cuda\" is left alone; kernels run on the virtual device "
            'take tensors with device="cpu"'
        )
        return
    _Replacement(torch).install()
    _installed = True


def _uncompiled(model=None, **options):
    """torch.compile, which would make kernels for a GPU that is not there: the function as it is."""
    if model is None:
        return functools.partial(_uncompiled, **options)
    said.once("torch.compile compiles nothing here: torch's operations run on the CPU, one by one")
    return model


class _Replacement:
    """torch's functions with "cuda" read as "cpu"."""

    def __init__(self, torch):
        self._torch = torch
        self._tensor = torch.Tensor
        self._device_of = torch._C._TensorBase.device.__get__  # pylint: disable=no-member

    def install(self):
        torch = self._torch
        self._factories()
        self._properties()
        self._moves()
        self._rest()
        cuda_module.make_generators()
        for name in cuda_module.REPLACED:
            setattr(torch.cuda, name, getattr(cuda_module, name))
        torch.version.hip = "{}.{}.{}".format(*hip.driver_version())
        torch.version.cuda = None
        if hasattr(torch.version, "rocm"):
            torch.version.rocm = torch.version.hip
        if hasattr(torch, "accelerator"):
            self._accelerator(torch.accelerator)

    # ---- Which device is meant ---------------------------------------------------------------

    def _is_cuda(self, device):
        """Whether a device as programs name it is the virtual one. None and others are not."""
        if isinstance(device, bool) or device is None:
            return False
        if isinstance(device, int):
            return True  # torch takes a number for an accelerator's
        if isinstance(device, str):
            return device.split(":")[0] == "cuda"
        return isinstance(device, self._torch.device) and device.type == "cuda"

    def _checked(self, device):
        """RuntimeError for a device that there is not."""
        said.device()
        index = device if isinstance(device, int) else self._torch.device(device).index
        if index is not None and index >= hip.device_count():
            raise RuntimeError(
                f"there is no device cuda:{index}: the virtual devices are cuda:0 to cuda:{hip.device_count() - 1} "
                "(MARGAY_DEVICES says how many)"
            )

    def _marked(self, result):
        if isinstance(result, self._tensor):
            setattr(result, _MARK, True)
        return result

    # ---- Factories ---------------------------------------------------------------------------

    def _factories(self):
        torch = self._torch
        constructors = ()
        try:  # before anything is replaced: torch keeps the originals
            constructors = torch.utils._device._device_constructors()
        except AttributeError:
            pass  # torch 1.13
        names = {
            "arange", "as_tensor", "asarray", "bartlett_window", "blackman_window", "empty", "empty_like",
            "empty_strided", "eye", "from_file", "full", "full_like", "hamming_window", "hann_window",
            "kaiser_window", "linspace", "logspace", "normal", "ones", "ones_like", "rand", "rand_like",
            "randint", "randint_like", "randn", "randn_like", "randperm", "range", "scalar_tensor",
            "sparse_coo_tensor", "tensor", "tril_indices", "triu_indices", "zeros", "zeros_like",
        }  # fmt: skip
        for module in filter(None, (torch, torch.fft, getattr(torch, "nested", None))):
            for name in dir(module):
                function = getattr(module, name, None)
                if not callable(function) or isinstance(function, type):
                    continue
                if (module is torch and name in names) or self._is_one_of(function, constructors):
                    setattr(module, name, self._factory(function))
        for name in ("new_empty", "new_empty_strided", "new_full", "new_ones", "new_tensor", "new_zeros"):
            setattr(self._tensor, name, self._factory(getattr(self._tensor, name), of_tensor=True))

    @staticmethod
    def _is_one_of(function, functions):
        try:
            return function in functions
        except TypeError:  # not hashable
            return False

    def _factory(self, function, of_tensor=False):
        @functools.wraps(function)
        def factory(*args, **kwargs):
            device = kwargs.get("device")
            if device is None:
                result = function(*args, **kwargs)
                like = args[0] if args else kwargs.get("input")
                on_device = isinstance(like, self._tensor) and getattr(like, _MARK, False)
                on_device = on_device and (of_tensor or function.__name__.endswith("_like"))
                return self._marked(result) if on_device else result
            if self._is_cuda(device):
                self._checked(device)
                kwargs["device"] = "cpu"
                kwargs.pop("pin_memory", None)
                result = function(*args, **kwargs)
                # torch.as_tensor and asarray may give the very memory that they were given.
                if function.__name__ in ("as_tensor", "asarray") and not self._was_on_device(args, kwargs):
                    result = result.clone()
                return self._marked(result)
            return function(*args, **kwargs)

        return factory

    @staticmethod
    def _was_on_device(args, kwargs):
        data = args[0] if args else kwargs.get("data", kwargs.get("obj"))
        return getattr(data, _MARK, False)

    # ---- What tensors say --------------------------------------------------------------------

    def _properties(self):
        torch, device_of = self._torch, self._device_of
        cuda = torch.device("cuda", 0)

        def device(tensor):
            where = device_of(tensor)
            return cuda if where.type == "cpu" else where

        def is_on_device(tensor):  # "cuda": a mode of torch asked device() above
            return device_of(tensor).type in ("cpu", "cuda")

        def get_device(tensor):
            return 0 if is_on_device(tensor) else -1

        self._tensor.device = property(device)
        self._tensor.is_cuda = property(is_on_device)
        self._tensor.is_cpu = property(lambda tensor: False)
        self._tensor.get_device = get_device
        # Other libraries read the memory where it is.
        self._tensor.__dlpack_device__ = lambda tensor: (1, 0)  # kDLCPU
        self._tensor.__dlpack__ = lambda tensor, **_: torch._C._to_dlpack(tensor)

    # ---- Moving ------------------------------------------------------------------------------

    def _moves(self):
        to = self._tensor.to
        wanted = self._asked_device

        def moved(tensor, *args, **kwargs):
            device, args, kwargs = wanted(args, kwargs)
            if device is None:
                result = to(tensor, *args, **kwargs)
                return self._marked(result) if getattr(tensor, _MARK, False) else result
            if self._is_cuda(device):
                self._checked(device)
                if not getattr(tensor, _MARK, False):
                    kwargs["copy"] = True
                kwargs.pop("non_blocking", None)
                return self._marked(to(tensor, *args, device="cpu", **kwargs))
            if self._torch.device(device).type == "cpu":
                kwargs["copy"] = True
                result = to(tensor, *args, device="cpu", **kwargs)
                setattr(result, _MARK, False)
                return result
            return to(tensor, *args, device=device, **kwargs)

        def cuda(tensor, device=None, non_blocking=False, memory_format=None):
            # pylint: disable=unused-argument
            more = {} if memory_format is None else {"memory_format": memory_format}
            return moved(tensor, device="cuda" if device is None else device, **more)

        def cpu(tensor, memory_format=None):
            more = {} if memory_format is None else {"memory_format": memory_format}
            return moved(tensor, device="cpu", **more)

        self._tensor.to, self._tensor.cuda, self._tensor.cpu = moved, cuda, cpu
        self._tensor.pin_memory = lambda tensor, device=None: tensor
        self._tensor.is_pinned = lambda tensor, device=None: False
        self._tensor.record_stream = lambda tensor, stream: None

    def _asked_device(self, args, kwargs):
        """The device among the arguments of Tensor.to, and the others; of another tensor its dtype."""
        kwargs = dict(kwargs)
        other = kwargs.pop("other", None)
        if args and isinstance(args[0], self._tensor):
            other, args = args[0], args[1:]
        if other is not None:
            kwargs.setdefault("dtype", other.dtype)
            return other.device, args, kwargs
        device = kwargs.pop("device", None)
        if args and device is None and (
            args[0] is None or isinstance(args[0], (str, int, self._torch.device))
        ):
            device, args = args[0], args[1:]
        names = ("dtype", "non_blocking", "copy")
        if device is None:
            return None, args, kwargs
        if args:  # to(device, dtype, non_blocking, copy)
            kwargs.update(zip(names, args))
        return device, (), {name: value for name, value in kwargs.items() if value is not None}

    # ---- The rest ----------------------------------------------------------------------------

    def _rest(self):
        torch = self._torch
        load = torch.load

        @functools.wraps(load)
        def loaded(file, map_location=None, *args, **kwargs):
            if self._is_cuda(map_location):
                map_location = "cpu"
            return load(file, map_location, *args, **kwargs)

        torch.load = loaded
        if hasattr(torch, "compile"):
            torch.compile = _uncompiled
        self._distributed()
        self._norms()
        self._generator()
        self._default_device()
        self._inductor()
        autocast.replace(torch)
        operators.replace(torch)

    def _inductor(self):
        """What programs that torch.compile wrote (with TORCH_COMPILE_DEBUG, say) take of torch's parts in C++."""
        torch = self._torch

        def empty(size, stride, dtype):
            return self._marked(torch.empty_strided(size, stride, dtype=dtype))

        torch._C._cuda_getCurrentRawStream = hip.current_stream
        guards = getattr(getattr(torch._C, "_dynamo", None), "guards", None)
        if guards is not None:
            guards._empty_strided_cuda = empty

    def _distributed(self):
        """NCCL without a GPU ends the process in torch's own code."""
        distributed = getattr(self._torch, "distributed", None)
        begin = getattr(distributed, "init_process_group", None)
        if begin is None:
            return

        @functools.wraps(begin)
        def init(backend=None, *args, **kwargs):
            if "nccl" in str(backend).lower():
                raise NotImplementedError(
                    f"torch.distributed: the backend {str(backend)!r} needs real GPUs; 'gloo' works, on the CPU "
                    "tensors that are behind \"cuda\" here"
                )
            return begin("gloo" if backend is None else backend, *args, **kwargs)

        distributed.init_process_group = init

    def _norms(self):
        """Sums of halves in float32, as on a GPU: on the CPU torch adds them up in float16, and a gradient
        over 1000 rows is off by 0.07."""
        functional = self._torch.nn.functional
        narrow = (self._torch.float16, self._torch.bfloat16)

        def in_float(function):
            @functools.wraps(function)
            def norm(input, *args, **kwargs):  # pylint: disable=redefined-builtin  # torch's name
                if input.dtype not in narrow:
                    return function(input, *args, **kwargs)
                args = [self._widened(value) for value in args]
                kwargs = {name: self._widened(value) for name, value in kwargs.items()}
                result = function(input.float(), *args, **kwargs)
                widened = function.__name__ != "rms_norm" and autocast.widens(self._torch)
                return result if widened else result.to(input.dtype)

            return norm

        for name in ("layer_norm", "group_norm", "rms_norm"):
            if hasattr(functional, name):
                setattr(functional, name, in_float(getattr(functional, name)))

    def _widened(self, value):
        return value.float() if isinstance(value, self._tensor) else value

    def _generator(self):
        torch, replacement = self._torch, self
        original = torch.Generator

        class Kind(type):
            """isinstance(x, torch.Generator) is true of torch's own."""

            def __instancecheck__(cls, instance):
                return isinstance(instance, original)

        class Generator(metaclass=Kind):
            """torch.Generator, for the virtual device, too."""

            def __new__(cls, device="cpu"):
                return original("cpu" if replacement._is_cuda(device) else device)

        torch.Generator = Generator

    def _default_device(self):
        """torch.set_default_device("cuda") and `with torch.device("cuda")`."""
        torch = self._torch
        try:
            context = torch.utils._device.DeviceContext
        except AttributeError:
            return  # torch 1.13
        begin = context.__init__

        def init(self_, device):
            begin(self_, "cpu" if self._is_cuda(device) else device)

        context.__init__ = init
        set_default = torch.set_default_device
        torch.set_default_device = lambda device: set_default("cpu" if self._is_cuda(device) else device)

    def _accelerator(self, accelerator):
        torch = self._torch
        replaced = {
            "is_available": cuda_module.is_available,
            "device_count": cuda_module.device_count,
            "current_accelerator": lambda check_available=False: torch.device("cuda"),
            "current_device_index": cuda_module.current_device,
            "current_device_idx": cuda_module.current_device,
            "set_device_index": cuda_module.set_device,
            "set_device_idx": cuda_module.set_device,
            "current_stream": cuda_module.current_stream,
            "set_stream": cuda_module.set_stream,
            "synchronize": cuda_module.synchronize,
            "empty_cache": cuda_module.empty_cache,
        }
        for name, function in replaced.items():
            if hasattr(accelerator, name):
                setattr(accelerator, name, function)
