"""torch.multiprocessing.spawn: processes that run one function, joined with their exceptions."""

import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import tempfile
import threading
import time
import traceback

__all__ = [
    "ProcessContext", "ProcessException", "ProcessExitedException", "ProcessRaisedException",
    "SpawnContext", "spawn", "start_processes",
]  # fmt: skip


class ProcessException(Exception):
    """A process that failed: error_index says which, error_pid its number."""

    def __init__(self, msg, error_index, pid):
        super().__init__(msg)
        self.msg, self.error_index, self.pid, self.error_pid = msg, error_index, pid, pid

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """A process ended with an exception, whose text this one has."""


class ProcessExitedException(ProcessException):
    """A process ended by a signal or with a status."""

    def __init__(self, msg, error_index, error_pid, exit_code, signal_name=None):
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self):
        return type(self), (
            self.msg, self.error_index, self.pid, self.exit_code, self.signal_name)  # fmt: skip


_GRACE = 30  # seconds for what a process does on SIGINT


def _has_ended(parent, direct, seconds=0):
    """Whether the process that started this one has ended, after a while at most.

    parent waits for the end of a pipe, which a process forked later keeps open. So a direct child
    also asks whose child it is."""
    parent.join(seconds)
    return not parent.is_alive() or (direct and os.getppid() != parent.pid)


def _end_with_parent(parent, direct):
    """Interrupts this process when the one that started it ends, however that ends."""

    def interrupted(number, frame):
        if _has_ended(parent, direct):
            raise KeyboardInterrupt

    # A shell's background jobs ignore SIGINT: go on so, but for the one sent below.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, interrupted)

    def watch():
        while not _has_ended(parent, direct, 0.5):
            pass
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(_GRACE)
        os._exit(1)  # the interrupt was lost, or what it began does not end

    threading.Thread(target=watch, name="end with the parent", daemon=True).start()


def _run(fn, i, args, error_file, direct):
    parent = multiprocessing.parent_process()
    try:
        _end_with_parent(parent, direct)
        fn(i, *args)
    except KeyboardInterrupt:
        if _has_ended(parent, direct):  # nobody reads what a queue would wait to have written
            sys.stdout.flush(), sys.stderr.flush()
            os._exit(1)
    except Exception:
        if _has_ended(parent, direct):  # nor the file
            traceback.print_exc()
            sys.stdout.flush(), sys.stderr.flush()
            os._exit(1)
        fd = os.open(error_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(fd, "w", encoding="utf-8", errors="backslashreplace") as f:
            f.write(traceback.format_exc())
        sys.exit(1)


class ProcessContext:
    """Processes that were started together."""

    def __init__(self, processes, error_files):
        self.processes, self.error_files = processes, error_files
        self.sentinels = {p.sentinel: i for i, p in enumerate(processes)}

    def pids(self):
        """The numbers of the processes."""
        return [int(p.pid) for p in self.processes]

    def join(self, timeout=None, grace_period=None):
        """Waits for all; True when all have ended well. The first one that fails ends the others,
        and its exception is raised here."""
        if not self.sentinels:
            return True
        ready = multiprocessing.connection.wait(self.sentinels.keys(), timeout=timeout)
        failed = None
        for sentinel in ready:
            i = self.sentinels.pop(sentinel)
            self.processes[i].join()
            if self.processes[i].exitcode:
                failed = i
                break
        if failed is None:
            return not self.sentinels
        self._end(grace_period)
        raise self._error(failed)

    def _end(self, grace_period):
        for p in self.processes:
            if p.is_alive():
                p.terminate()
        limit = time.monotonic() + (30 if grace_period is None else grace_period)
        for p in self.processes:
            p.join(max(0, limit - time.monotonic()))
            if p.is_alive():
                p.kill()
                p.join()

    def _error(self, i):
        p = self.processes[i]
        if os.path.exists(self.error_files[i]):
            with open(self.error_files[i], encoding="utf-8") as f:
                text = f.read()
            message = f"\n\n-- Process {i} terminated with the following error:\n{text}"
            return ProcessRaisedException(message, i, p.pid)
        if p.exitcode < 0:
            try:
                name = signal.Signals(-p.exitcode).name
            except ValueError:
                name = f"<Unknown signal {-p.exitcode}>"
            return ProcessExitedException(
                f"process {i} terminated with signal {name}", i, p.pid, p.exitcode, name
            )
        return ProcessExitedException(
            f"process {i} terminated with exit code {p.exitcode}", i, p.pid, p.exitcode
        )

    def __del__(self):
        for path in self.error_files:
            try:
                os.unlink(path)
            except OSError:
                pass


SpawnContext = ProcessContext


def start_processes(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn",
                    numa_options=None):  # fmt: skip
    """Runs fn(i, *args) in nprocs processes; waits for them, or returns their context."""
    context = multiprocessing.get_context(start_method)
    direct = context.get_start_method() != "forkserver"
    processes, files = [], []
    try:
        for i in range(nprocs):
            name = f"tensorh-{os.getpid()}-{os.urandom(8).hex()}.error"
            path = os.path.join(tempfile.gettempdir(), name)  # a process that fails makes it
            files.append(path)
            process = context.Process(
                target=_run, args=(fn, i, args, path, direct), daemon=daemon
            )
            process.start()
            processes.append(process)
    except BaseException:
        for process in processes:
            process.terminate()
            process.join()
        ProcessContext((), files)  # which removes the files
        raise
    made = ProcessContext(processes, files)
    if not join:
        return made
    while not made.join():
        pass


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """start_processes by "spawn"."""
    return start_processes(fn, args, nprocs, join, daemon, start_method)
