"""torch.autograd.profiler: the older interface of torch.profiler."""

from ..profiler import EventList, FunctionEvent, kineto_available, record_function  # noqa: F401
from ..profiler import profile as _profile

__all__ = ["EventList", "FunctionEvent", "kineto_available", "profile", "record_function"]


class profile(_profile):
    """Records the calls of a block: profile(enabled), and torch.profiler.profile's options."""

    def __init__(self, enabled=True, *, use_cuda=False, use_device=None, use_kineto=True,
                 use_cpu=True, record_shapes=False, with_stack=False, **options):  # fmt: skip
        super().__init__(record_shapes=record_shapes, with_stack=with_stack)
        self.enabled = enabled

    def start(self):
        """Begins, if it is enabled."""
        if self.enabled:
            super().start()

    def __exit__(self, *exc):
        if self.enabled:
            super().__exit__(*exc)
        return False

    @property
    def function_events(self):
        """The calls."""
        return self.events()

    def table(self, *args, **kwargs):
        """The table of events()."""
        return self.events().table(*args, **kwargs)

    def total_average(self):
        """All calls as one."""
        return self.events().total_average()

    @property
    def self_cpu_time_total(self):
        """Microseconds of all calls."""
        return self.events().self_cpu_time_total

    def __str__(self):
        return str(self.events())


class _Marks:
    """Marks for another tool, which is not asked: a block that records nothing."""

    def __init__(self, enabled=True, record_shapes=False):
        self.enabled = enabled

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False


emit_nvtx = emit_itt = _Marks
