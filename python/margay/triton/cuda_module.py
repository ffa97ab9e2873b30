"""What `torch.cuda` says and does when "cuda" is the virtual device: devices, streams, events, memory.

The functions have the names and parameters of torch.cuda. Streams and events are HIP's own, so that
`margay check` sees which stream a kernel is on. Works without torch, as Triton's device interface.
"""

import contextlib
import functools
from dataclasses import dataclass

from margay import devices
from margay.triton import hip, said

# hipDeviceAttribute_t
_L2_BYTES, _LDS_BYTES, _WARP, _CU_THREADS, _GROUP, _REGISTERS = 19, 74, 87, 57, 56, 71


def _index(device):
    """The number of a device given as number, "cuda:1", torch.device or None."""
    if device is None:
        return hip.current_device()
    if isinstance(device, int):
        return device if device >= 0 else hip.current_device()
    text = str(device)
    kind, _, number = text.partition(":")
    if kind not in ("cuda", "hip"):
        raise ValueError(f"expected a cuda device, got {text!r}")
    return int(number) if number else hip.current_device()


# ---- Devices ---------------------------------------------------------------------------------


def is_available():
    said.device()
    return True


def is_initialized():
    return True


def init():
    """Nothing has to be initialised."""


_lazy_init = init
device_count = hip.device_count
current_device = hip.current_device


def set_device(device):
    hip.set_device(_index(device))


def _exchange_device(device):
    """Sets it and returns the one before; a negative one changes nothing."""
    before = hip.current_device()
    if device >= 0:
        hip.set_device(device)
    return before


@functools.lru_cache(maxsize=None)
def _machine():
    return devices.device()


def get_device_name(device=None):  # pylint: disable=unused-argument  # all devices are alike
    return _machine().name


def get_device_capability(device=None):
    return hip.capability(device)


@dataclass(frozen=True)
class DeviceProperties:
    """The fields of torch's class of this name."""

    name: str
    major: int
    minor: int
    gcnArchName: str  # pylint: disable=invalid-name  # torch's
    total_memory: int
    multi_processor_count: int
    warp_size: int
    max_threads_per_multi_processor: int
    max_threads_per_block: int
    regs_per_multiprocessor: int
    shared_memory_per_block: int
    shared_memory_per_multiprocessor: int
    L2_cache_size: int  # pylint: disable=invalid-name  # torch's
    is_integrated: int = 0
    is_multi_gpu_board: int = 0


def _architecture():
    """ "gfx942:sramecc+:xnack-", as HIP says."""
    from triton.runtime import driver

    return driver.active.utils.get_device_properties(0)["arch"]


@functools.lru_cache(maxsize=None)
def _properties():
    machine = _machine()
    major, minor = hip.capability()
    return DeviceProperties(
        name=machine.name,
        major=major,
        minor=minor,
        gcnArchName=_architecture(),
        total_memory=machine.memory_bytes,
        multi_processor_count=machine.compute_units,
        warp_size=hip.attribute(_WARP),
        max_threads_per_multi_processor=hip.attribute(_CU_THREADS),
        max_threads_per_block=hip.attribute(_GROUP),
        regs_per_multiprocessor=hip.attribute(_REGISTERS),
        shared_memory_per_block=hip.attribute(_LDS_BYTES),
        shared_memory_per_multiprocessor=hip.attribute(_LDS_BYTES),
        L2_cache_size=hip.attribute(_L2_BYTES),
    )


def get_device_properties(device=None):  # pylint: disable=unused-argument
    said.device()
    return _properties()


def get_arch_list():
    return [_properties().gcnArchName.split(":")[0]]


def can_device_access_peer(device, peer_device):  # pylint: disable=unused-argument
    return True


def is_bf16_supported(including_emulation=True):  # pylint: disable=unused-argument
    return True


def synchronize(device=None):  # pylint: disable=unused-argument
    hip.call("hipDeviceSynchronize")


class device:  # pylint: disable=invalid-name  # torch's
    """with torch.cuda.device(1): makes it the current one in the block."""

    def __init__(self, device):  # pylint: disable=redefined-outer-name
        self.idx = _index(device)
        self._before = None

    def __enter__(self):
        self._before = current_device()
        if self.idx != self._before:
            hip.set_device(self.idx)

    def __exit__(self, *_):
        if current_device() != self._before:
            hip.set_device(self._before)


class device_of(device):  # pylint: disable=invalid-name  # torch's
    """The device of a tensor."""

    def __init__(self, obj):
        super().__init__(obj.get_device() if getattr(obj, "is_cuda", False) else None)


# ---- Streams and events ----------------------------------------------------------------------


class Stream:
    """A stream of the virtual device."""

    def __init__(self, device=None, priority=0, **_):  # pylint: disable=redefined-outer-name
        self.device_index = _index(device)
        self.priority = priority
        self._stream = hip.Stream(self.device_index)

    @property
    def cuda_stream(self):
        return self._stream.handle

    @property
    def device(self):
        import torch

        return torch.device("cuda", self.device_index)

    def synchronize(self):
        hip.call("hipStreamSynchronize", self.cuda_stream)

    def query(self):
        return hip.is_done("hipStreamQuery", self.cuda_stream)

    def wait_event(self, event):
        event.wait(self)

    def wait_stream(self, stream):
        self.wait_event(stream.record_event())

    def record_event(self, event=None):
        event = event or Event()
        event.record(self)
        return event

    def __eq__(self, other):
        return isinstance(other, Stream) and self.cuda_stream == other.cuda_stream

    def __hash__(self):
        return hash(self.cuda_stream)


class ExternalStream(Stream):
    """A stream that something else made, by its handle."""

    def __init__(self, stream_ptr, device=None, **_):  # pylint: disable=super-init-not-called,redefined-outer-name
        self.device_index = _index(device)
        self.priority = 0
        self._handle = stream_ptr

    @property
    def cuda_stream(self):
        return self._handle


class Event:
    """A point in a stream. `elapsed_time` is the model's time of what ran between, never the host's."""

    def __init__(self, enable_timing=False, blocking=False, interprocess=False, **_):
        if interprocess:
            raise NotImplementedError("events of the virtual device cannot be used by other processes")
        self.enable_timing = enable_timing
        self.blocking = blocking
        self._event = hip.Event(enable_timing)

    @property
    def cuda_event(self):
        return self._event.handle

    def record(self, stream=None):
        hip.call("hipEventRecord", self.cuda_event, (stream or current_stream()).cuda_stream)

    def wait(self, stream=None):
        hip.call("hipStreamWaitEvent", (stream or current_stream()).cuda_stream, self.cuda_event, 0)

    def synchronize(self):
        hip.call("hipEventSynchronize", self.cuda_event)

    def query(self):
        return hip.is_done("hipEventQuery", self.cuda_event)

    def elapsed_time(self, end_event):
        return self._event.milliseconds_until(end_event._event)


def current_stream(device=None):  # pylint: disable=redefined-outer-name
    return ExternalStream(hip.current_stream(_index(device)), device)


def default_stream(device=None):  # pylint: disable=redefined-outer-name
    return ExternalStream(0, device)


def set_stream(stream):
    if stream is not None:
        hip.set_stream(stream.cuda_stream, stream.device_index)
        _kept[stream.device_index] = stream


_kept = {}  # the current streams, which nobody else may hold


@contextlib.contextmanager
def stream(stream):  # pylint: disable=redefined-outer-name
    """with torch.cuda.stream(s): what is launched in the block goes to s."""
    if stream is None:
        yield
        return
    before = hip.current_stream(stream.device_index)
    hip.set_stream(stream.cuda_stream, stream.device_index)
    try:
        yield
    finally:
        hip.set_stream(before, stream.device_index)


StreamContext = stream


# ---- Memory ----------------------------------------------------------------------------------


def mem_get_info(device=None):  # pylint: disable=unused-argument,redefined-outer-name
    return hip.memory()


def empty_cache():
    """CPU tensors have no such cache."""


def _no_statistics(device=None):  # pylint: disable=unused-argument,redefined-outer-name
    said.once("torch.cuda counts no memory here: its tensors are CPU tensors; 0 is returned")
    return 0


memory_allocated = max_memory_allocated = memory_reserved = max_memory_reserved = _no_statistics


def reset_peak_memory_stats(device=None):  # pylint: disable=unused-argument,redefined-outer-name
    """Nothing is counted."""


reset_max_memory_allocated = reset_accumulated_memory_stats = reset_peak_memory_stats


def memory_stats(device=None):  # pylint: disable=unused-argument,redefined-outer-name
    _no_statistics()
    return {}


def ipc_collect():
    """Nothing is shared with other processes."""


# ---- What there is not -----------------------------------------------------------------------


class CUDAGraph:
    """Refused in words: torch's operations run on the CPU and cannot be recorded."""

    def __init__(self, *_, **__):
        raise NotImplementedError(
            "torch.cuda.CUDAGraph: torch's operations run on the CPU here, so they cannot be recorded in "
            "a graph. Launch the kernels directly; triton.testing.do_bench_cudagraph works."
        )


def graph(*_, **__):
    CUDAGraph()


# ---- Random numbers, which are torch's on the CPU --------------------------------------------


def manual_seed(seed):
    import torch

    torch.default_generator.manual_seed(int(seed))  # torch.manual_seed calls this function
    for generator in default_generators:
        generator.manual_seed(seed)


manual_seed_all = manual_seed


def seed():
    import torch

    torch.default_generator.seed()


def initial_seed():
    import torch

    return torch.default_generator.initial_seed()


def get_rng_state(device="cuda"):  # pylint: disable=unused-argument,redefined-outer-name
    import torch

    return torch.default_generator.get_state()


def set_rng_state(new_state, device="cuda"):  # pylint: disable=unused-argument,redefined-outer-name
    import torch

    torch.default_generator.set_state(new_state)


class _Generator:
    """A generator of torch.cuda as libraries of kernels use it: the seed and the offset of Philox, which they take for
    their own random numbers. torch's operations take theirs from the CPU's generator; a seed sets both."""

    def __init__(self, index):
        self.index, self._seed, self._offset = index, 0, 0

    @property
    def device(self):
        import torch

        return torch.device("cuda", self.index)

    def initial_seed(self):
        return self._seed

    def manual_seed(self, seed):
        self._seed, self._offset = int(seed), 0
        return self

    def get_offset(self):
        return self._offset

    def set_offset(self, offset):
        self._offset = int(offset)

    def get_state(self):
        """16 bytes, as CUDA's generator has them."""
        import torch

        signed = self._seed - (1 << 64) if self._seed >= 1 << 63 else self._seed
        return torch.tensor([signed, self._offset], dtype=torch.int64, device="cpu").view(torch.uint8)

    def set_state(self, state):
        import torch

        seed, self._offset = state.view(torch.int64).tolist()
        self._seed = seed % (1 << 64)


default_generators = ()  # one for each device, when torch is there


def make_generators():
    global default_generators  # pylint: disable=global-statement
    default_generators = tuple(map(_Generator, range(device_count())))


_maybe_exchange_device = _exchange_device

REPLACED = (
    "CUDAGraph", "DeviceProperties", "Event", "ExternalStream", "Stream", "StreamContext", "_lazy_init",
    "can_device_access_peer", "current_device", "current_stream", "default_generators", "default_stream", "device",
    "device_count", "device_of", "empty_cache", "get_arch_list", "get_device_capability",
    "get_device_name", "get_device_properties", "get_rng_state", "graph", "init", "initial_seed",
    "ipc_collect", "is_available", "is_bf16_supported", "is_initialized", "manual_seed", "manual_seed_all",
    "max_memory_allocated", "max_memory_reserved", "mem_get_info", "memory_allocated",
    "memory_reserved", "memory_stats", "reset_accumulated_memory_stats",
    "reset_max_memory_allocated", "reset_peak_memory_stats", "seed", "set_device", "set_rng_state",
    "set_stream", "stream", "synchronize", "_exchange_device", "_maybe_exchange_device",
)  # fmt: skip
