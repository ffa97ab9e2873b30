"""Launches within a benchmark: timed at once, run only when something can see what they write.

A benchmark launches kernels for their time, and mostly drops what they wrote. Within `deferred()` a launch whose
effect on memory is known (effects.py) is modelled on a part of its workgroups, whose writes are taken back, and
waits. It runs, with all that waits before it, when

- an operation of torch is about to read or write memory that it writes, or to write memory that it reads,
- a program asks for the address of such memory, or for a view of it that torch does not see (NumPy, DLPack),
- a kernel whose effect on memory is not known is launched,
- the section ends and something other than this module still has a reference to what it wrote.

What is left has written memory that nobody can reach any more, and never runs. Operations of torch on large tensors,
which run on the CPU and have no time, wait in the same way if they only compute new tensors from others.
"""

import contextlib
import functools
import gc
import os
import sys
import threading
from dataclasses import dataclass, field

from margay import library
from margay.event_time import event_time
from margay.triton import effects, said

_ALL, _KNOWN_TIME, _TIME, _MEMORY = range(4)  # of margayLaunchPurpose

# Operations that take no more from a tensor than its shape and type.
_OF_SHAPES = ("empty_like", "zeros_like", "ones_like", "full_like", "rand_like", "randn_like", "randint_like", "new_empty",
              "new_empty_strided", "new_zeros", "new_ones", "new_full", "is_same_size")  # fmt: skip
# Besides those that torch calls pointwise: new tensors from others, of sizes that do not depend on values.
_FUNCTIONS = ("_log_softmax", "_softmax", "_to_copy", "addmm", "amax", "amin", "baddbmm", "bmm", "clone", "convolution", "max",
              "mean", "min", "mm", "native_layer_norm", "prod", "sum")  # fmt: skip
# Of them, those that take so much longer than a copy of what they read that they are worth one.
_PRODUCTS = ("addmm", "baddbmm", "bmm", "convolution", "mm")
_LARGE = 1 << 20  # elements of an operation that is worth to wait
_MOST_COPIED = 1 << 31  # bytes
# Methods by which memory is reached without an operation.
_DOORS = ("__array__", "__dlpack__", "data_ptr", "numpy", "storage", "tolist", "untyped_storage", "share_memory_")

# Of what Triton's launcher is called with: grid, stream, function, packed metadata, then these.
_METADATA, _HOOKS, _FIRST = 6, slice(7, 9), 9

_section = None  # the open one


def is_open():
    return _section is not None


@contextlib.contextmanager
def deferred():
    """A section in which launches wait; within another one, and where nothing can wait, the same as none."""
    global _section  # pylint: disable=global-statement  # torch and the device are one, too
    if _section is not None or not _is_possible():
        yield
        return
    _section = _Section(sys.modules["torch"])
    try:
        with _section.watch():
            yield
            if _section.chosen():  # what went out of scope may hang in a cycle
                gc.collect()
    finally:
        section, _section = _section, None
        section.run()


def _is_possible():
    torch = sys.modules.get("torch")
    if os.environ.get("MARGAY_TRITON_DEFER") == "0" or torch is None or threading.active_count() > 1:
        return False
    if not hasattr(torch._C, "_storage_Use_Count"):  # before torch 2
        return False
    runtime = library.load()
    if not hasattr(runtime, "margayLaunchPurpose"):
        return False
    if runtime.margayLaunchPurpose(_TIME) != 0:  # launches are checked or profiled
        return False
    runtime.margayLaunchPurpose(_ALL)
    return True


def launch(launcher, run, arguments):
    """Instead of run(*arguments), a launch of Triton's: true if it waits, or ran, as a part of a section."""
    return _section is not None and _section.launch(launcher, run, arguments)


class _Address:
    """A pointer that keeps nothing alive."""

    def __init__(self, tensor):
        self._address, self.dtype = tensor.data_ptr(), tensor.dtype

    def data_ptr(self):
        return self._address


@dataclass
class _Launch:
    run: object
    arguments: tuple = ()
    reads: set = field(default_factory=set)  # keys of memory
    writes: set = field(default_factory=set)


class _Section:
    def __init__(self, torch):
        self._torch = torch
        self._waiting = []
        self._memory = {}  # key: a tensor of this module's that keeps the memory
        self._known_by_address = set()  # keys
        self._copied = 0  # bytes of copies of such memory, for operations that wait
        self._busy = False  # what happens is this module's own doing

    # ---- Launches ------------------------------------------------------------------------------

    def launch(self, launcher, run, arguments):
        if self._busy:
            return False
        made = self._made(launcher, run, arguments)
        if made is None or not self._is_timed(made):
            self.run()
            return False
        self._waiting.append(made)
        said.once(
            "in benchmarks, a launch whose results nothing reads is modelled on a part of its workgroups and not run "
            "(MARGAY_TRITON_DEFER=0 runs all)"
        )
        return True

    def _made(self, launcher, run, arguments):
        """The launch with pointers instead of tensors; None where its effect is not known."""
        known = launcher.effects()
        if known is None or any(getattr(hook, "calls", hook) for hook in arguments[_HOOKS]):
            return None
        made, values = _Launch(run), list(arguments)
        values[_METADATA] = None  # for hooks; it may have the tensors
        values[_HOOKS] = None, None
        of = iter(known.arguments)
        for n, (value, kind) in enumerate(zip(arguments[_FIRST:], launcher.kinds()), _FIRST):
            if kind == "constexpr":
                continue
            effect = next(of, None)
            if isinstance(value, self._torch.Tensor) and effect:
                key = self._key(value)
                if key is None or key in self._known_by_address:
                    return None
                if effect != "none":
                    (made.writes if effect == "write" else made.reads).add(key)
                if effect != "write" and not value.is_floating_point() and any(key in w.writes for w in self._waiting):
                    return None  # it may decide what the kernel does
                values[n] = _Address(value)
            elif effect != "" or not (value is None or isinstance(value, (bool, int, float))):
                return None
        made.arguments = tuple(values)
        return made

    def _key(self, tensor):
        """Of the memory behind a tensor, which is kept; None where others may know it."""
        with self._own():
            if tensor.layout != self._torch.strided:
                return None
            storage = tensor.untyped_storage()
            key = storage._cdata
            # NumPy's, or of another process; or somebody else has the storage itself, which counts as no reference.
            if not storage.resizable() or sys.getrefcount(storage) > _references(self._torch)[1]:
                return None
            if key not in self._memory:
                self._memory[key] = self._torch.empty(0, dtype=self._torch.uint8).set_(storage)
            return key

    def _is_timed(self, made):
        """Whether the time of the launch is known, if events ask for it; it is found out, and memory is as before."""
        if event_time() == "host":
            return True
        runtime = library.load()
        for purpose in (_KNOWN_TIME, _TIME):
            with self._own():
                saved = [(self._memory[key], self._memory[key].clone()) for key in made.writes] if purpose == _TIME else []
            if runtime.margayLaunchPurpose(purpose) != 0:
                return False
            try:
                made.run(*made.arguments)
                return True
            except RuntimeError:  # refused
                runtime.hipGetLastError()
            finally:
                runtime.margayLaunchPurpose(_ALL)
                with self._own():
                    for memory, before in saved:
                        memory.copy_(before)
        return False

    def run(self):
        """Runs what waits and can still be seen, in order; then nothing waits."""
        chosen, self._waiting = self.chosen(), []
        if chosen:
            runtime = library.load()
            runtime.margayLaunchPurpose(_MEMORY)
            try:
                for made in chosen:
                    made.run(*made.arguments)
            finally:
                runtime.margayLaunchPurpose(_ALL)
        self._memory.clear()
        self._copied = 0

    def chosen(self):
        """What waits and can still be seen, in order: it writes memory that somebody has, or that such a launch reads."""
        wanted = {key for key in self._memory if self._is_alive(key)} if self._waiting else set()
        chosen = []
        for made in reversed(self._waiting):
            if made.writes & wanted:
                chosen.append(made)
                wanted |= made.reads | made.writes
        return chosen[::-1]

    def _is_alive(self, key):
        """Whether there is a reference to the memory that is not this module's."""
        with self._own():
            return self._torch._C._storage_Use_Count(key) > _references(self._torch)[0]

    # ---- Operations of torch ---------------------------------------------------------------------

    @contextlib.contextmanager
    def watch(self):
        """Tells before() of all that reaches tensors."""
        with self._mode(), contextlib.ExitStack() as doors:
            for name in _DOORS:
                if hasattr(self._torch.Tensor, name):
                    doors.callback(self._door(name))
            yield

    def _mode(self):
        from torch.utils._python_dispatch import TorchDispatchMode

        section = self

        class Mode(TorchDispatchMode):
            def __torch_dispatch__(self, function, types, args=(), kwargs=None):
                kwargs = kwargs or {}
                result = section.operation(function, args, kwargs)
                if result is not NotImplemented:
                    return result
                section.before(function, args, kwargs)
                return function(*args, **kwargs)

        return Mode()

    def operation(self, function, args, kwargs):
        """The result of an operation that waits, with memory that is not written yet; or NotImplemented."""
        if self._busy or not self._is_function(function):
            return NotImplemented
        given = list(_tensors([*args, *kwargs.values()], self._torch.Tensor))
        if not any(t.numel() >= _LARGE or self._is_in_use(t, False) for t in given):
            return NotImplemented
        keys = {self._key(t) for t in given}
        if None in keys:
            return NotImplemented
        known = keys & self._known_by_address
        if known and not self._may_copy(function, given):
            return NotImplemented
        with self._own():
            meta = self._torch.device("meta")
            try:
                shapes = function(
                    *_mapped(args, self._torch.Tensor, lambda t: _like(self._torch, t, meta)),
                    **{n: meta if n == "device" else _mapped(v, self._torch.Tensor, lambda t: _like(self._torch, t, meta))
                       for n, v in kwargs.items()},
                )  # fmt: skip
            except (RuntimeError, NotImplementedError, TypeError, ValueError, IndexError):
                return NotImplemented  # it says what is wrong when it runs
            results = _mapped(shapes, self._torch.Tensor, lambda t: _like(self._torch, t, "cpu"))
            made = list(_tensors(results, self._torch.Tensor))
            writes = {self._key(t) for t in made}
            if known:
                args, kwargs, keys = self._copies(args, kwargs, known)

        def later(tensor):
            return _Later(self._key(tensor), tensor)

        call = [_mapped(part, self._torch.Tensor, later) for part in (list(args), kwargs, made)]
        self._waiting.append(_Launch(functools.partial(self._operate, function, *call), (), keys, writes))
        return results

    def _may_copy(self, function, given):
        """Whether what an operation reads may be copied, since the program may change it past torch."""
        size = sum(t.numel() * t.element_size() for t in given)
        if _name(function) not in _PRODUCTS or self._copied + size > _MOST_COPIED:
            return False
        self._copied += size
        return True

    def _copies(self, args, kwargs, known):
        """The arguments with copies instead of what is in memory of these keys, and the keys of all."""
        keys = set()

        def copied(tensor):
            if self._key(tensor) in known:
                tensor = tensor.clone()
            keys.add(self._key(tensor))
            return tensor

        args, kwargs = (_mapped(part, self._torch.Tensor, copied) for part in (args, kwargs))
        return args, kwargs, keys

    def _operate(self, function, args, kwargs, results):
        with self._own():
            args, kwargs, results = (_mapped(p, _Later, lambda t: t.tensor(self._memory)) for p in (args, kwargs, results))
            for to, value in zip(results, _tensors(function(*args, **kwargs), self._torch.Tensor)):
                to.copy_(value)

    @staticmethod
    @functools.lru_cache(maxsize=None)
    def _is_function(function):
        """It computes new tensors of sizes that do not depend on values, and does nothing else."""
        schema, torch = function._schema, sys.modules["torch"]
        return (
            (_name(function) in _FUNCTIONS or getattr(torch.Tag, "pointwise", None) in function.tags)
            and torch.Tag.nondeterministic_seeded not in function.tags
            and all(a.alias_info is None for a in (*schema.arguments, *schema.returns))
            and all(str(r.type) == "Tensor" for r in schema.returns)
        )  # fmt: skip

    def before(self, function, args, kwargs):
        """An operation of torch is about to run."""
        if self._busy or not self._waiting or _name(function) in _OF_SHAPES:
            return
        schema = function._schema.arguments
        named = [*zip(schema, args), *((a, kwargs[a.name]) for a in schema if a.name in kwargs)]
        for argument, value in named:
            alias = argument.alias_info
            if alias is not None and not alias.is_write and self._is_view(function):
                continue
            for tensor in _tensors(value, self._torch.Tensor):
                if self._is_in_use(tensor, alias is not None and alias.is_write):
                    self.run()
                    return

    @staticmethod
    @functools.lru_cache(maxsize=None)
    def _is_view(function):
        """It only makes another tensor of the same memory."""
        schema = function._schema
        return (
            any(r.alias_info is not None and not r.alias_info.is_write for r in schema.returns)
            and not any(a.alias_info is not None and a.alias_info.is_write for a in schema.arguments)
        )  # fmt: skip

    def _is_in_use(self, tensor, is_written):
        with self._own():
            try:
                key = tensor.untyped_storage()._cdata
            except (RuntimeError, NotImplementedError):  # it has no memory
                return False
        return any(key in made.writes or is_written and key in made.reads for made in self._waiting)

    def _door(self, name):
        """Replaces a method; what restores it."""
        tensor = self._torch.Tensor
        own = tensor.__dict__.get(name)
        original = getattr(tensor, name)
        section = self

        @functools.wraps(original)
        def door(self, *args, **kwargs):
            caller = sys._getframe(1).f_globals.get("__name__", "")
            if not section._busy and not caller.startswith(("triton.", "margay.")):
                section.is_known(self)
            return original(self, *args, **kwargs)

        setattr(tensor, name, door)
        return lambda: setattr(tensor, name, own) if own is not None else delattr(tensor, name)

    def is_known(self, tensor):
        """The program is about to have the address of the tensor's memory."""
        key = self._key(tensor)
        if any(key in made.writes or key in made.reads for made in self._waiting):
            self.run()
        self._known_by_address.add(key)

    @contextlib.contextmanager
    def _own(self):
        before, self._busy = self._busy, True
        try:
            yield
        finally:
            self._busy = before


@functools.lru_cache(maxsize=None)
def _references(torch):
    """How many references a storage has that nothing else than a section has, and its Python object, as
    sys.getrefcount() says: in some versions of torch each counts for the other."""
    probe = torch.empty(1)
    storage = probe.untyped_storage()
    of_object, key = sys.getrefcount(storage), storage._cdata
    kept = torch.empty(0).set_(storage)
    del probe, storage
    return (torch._C._storage_Use_Count(key) if kept is not None else 0), of_object


def _name(function):
    return function._schema.name.split("::")[-1]


class _Later:
    """A tensor of memory that a section keeps."""

    def __init__(self, key, tensor):
        self._key = key
        self._dtype, self._place = tensor.dtype, (tensor.storage_offset(), tuple(tensor.shape), tensor.stride())

    def tensor(self, memory):
        kept = memory[self._key]
        return kept.new_empty(0, dtype=self._dtype).set_(kept.untyped_storage(), *self._place)


def _like(torch, tensor, device):
    """A new one of the same shape."""
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=device)


def _mapped(value, kind, function):
    """`value` with `function` of all that is of a kind, also in lists, tuples and dictionaries."""
    if isinstance(value, kind):
        return function(value)
    if isinstance(value, dict):
        return {name: _mapped(part, kind, function) for name, part in value.items()}
    return type(value)(_mapped(part, kind, function) for part in value) if type(value) in (list, tuple) else value


def _tensors(value, tensor):
    """All tensors in it."""
    if isinstance(value, tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _tensors(part, tensor)
