"""What hipEventElapsedTime gives: the host's time, or how long a device would take by the model of time."""

import ctypes
from contextlib import contextmanager
from typing import Callable, Iterator

from margay import library
from margay.library import LibraryError

EVENT_TIMES = ("host", "modelled", "modelled-sustained", "modelled-warm", "modelled-warm-sustained")


def _library():
    loaded = library.load()
    if not hasattr(loaded, "margayEventTime"):
        raise LibraryError(f"{loaded._name} is Margay's, but too old to model time. Build Margay anew.")
    loaded.margayEventTime.argtypes, loaded.margayEventTime.restype = [ctypes.c_char_p], ctypes.c_char_p
    return loaded


def use_event_time(name: str) -> str:
    """Makes hipEventElapsedTime give "host" time, "modelled" device time at boost clock, or "modelled-sustained".

    A launch finds cold caches; with "modelled-warm" and "modelled-warm-sustained" those that a launch like it has left.
    Holds for the whole process from now on, as MARGAY_EVENT_TIME does from its start. Returns what it was.
    """
    if name not in EVENT_TIMES:
        raise ValueError(f"there is no event time {name!r}; there are {', '.join(EVENT_TIMES)}")
    return _library().margayEventTime(name.encode()).decode()


def event_time() -> str:
    """What hipEventElapsedTime gives."""
    return _library().margayEventTime(None).decode()


def modelled_ms(function: Callable[[], object], sustained: bool = False, warm: bool = False) -> float:
    """Calls `function`; how many milliseconds what it launches would take on the device, by the model of time.

    For autotuners: the figure is modelled, nothing is measured (docs/time.md says how far it can be trusted). A kernel
    that was modelled before with the same sizes and arguments is not modelled again. `warm`: each launch finds the
    caches as one like it has left them, as in a loop; otherwise they are cold. Streams that do not wait for the
    null stream (hipStreamNonBlocking) are not counted.
    """
    before = use_event_time("modelled" + ("-warm" if warm else "") + ("-sustained" if sustained else ""))
    try:
        api = _library()
        with _event(api) as start, _event(api) as stop:
            _check(api.hipEventRecord(start, None), "hipEventRecord")
            function()
            _check(api.hipEventRecord(stop, None), "hipEventRecord")
            _check(api.hipEventSynchronize(stop), "hipEventSynchronize")
            milliseconds = ctypes.c_float()
            _check(api.hipEventElapsedTime(ctypes.byref(milliseconds), start, stop), "hipEventElapsedTime")
            return milliseconds.value
    finally:
        use_event_time(before)


@contextmanager
def _event(api) -> Iterator[ctypes.c_void_p]:
    event = ctypes.c_void_p()
    _check(api.hipEventCreate(ctypes.byref(event)), "hipEventCreate")
    try:
        yield event
    finally:
        api.hipEventDestroy(event)


def _check(code, call):
    if code != 0:
        raise RuntimeError(f"{call} failed with HIP error {code}")
