import concurrent.futures
import contextlib
import gc
import math
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from whp.proofs_checks.engine.isolation import (
    Isolated,
    Limits,
    SubjectCrashed,
    SubjectHung,
    SubjectOutOfMemory,
    SubjectRaised,
)

SMALL = Limits(seconds=20.0, memory_bytes=300 * 2**20)


class UnpicklableError(Exception):
    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")
        self.reason = lambda: first  # not to be pickled even where tblib, which dask brings, rebuilds exceptions


def allocate_for_ever():
    blocks = []
    while True:
        blocks.append(bytearray(2**22))


def behave(kind):
    """A subject of many kinds of bad manners."""
    match kind:
        case "sleep":
            time.sleep(600)
        case "spin":
            while True:
                pass
        case "memory":
            allocate_for_ever()
        case "one array":
            return np.ones(2**40)
        case "abort":
            os.abort()
        case "segfault":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "exit":
            os._exit(3)
        case "sys.exit":
            sys.exit(2)
        case "raise":
            raise KeyError("missing")
        case "odd exception":
            raise UnpicklableError("a", "b")
        case "unpicklable result":
            return lambda: 0
        case "print":
            print("a remark of the subject")
    return kind, os.getpid()


def gone(pid):
    """Whether a process has ended, waiting a little for the kernel; a zombie of somebody else's has."""
    for _ in range(200):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return True
        except FileNotFoundError:
            return True
        time.sleep(0.01)
    return False


@pytest.fixture
def subject():
    with Isolated(behave, SMALL) as isolated:
        yield isolated


def test_results_come_back_and_the_child_is_kept(subject):
    assert subject("fine")[0] == "fine"
    assert subject("a")[1] == subject("b")[1] != os.getpid()


@pytest.mark.parametrize("kind", ["sleep", "spin"])
def test_a_hang_is_killed_in_time_and_the_next_call_gets_a_new_child(kind):
    with Isolated(behave, Limits(seconds=0.3)) as subject:
        before = subject("fine")[1]
        start = time.monotonic()
        with pytest.raises(SubjectHung, match=r"within 0\.3 seconds and was killed"):
            subject(kind)
        assert time.monotonic() - start < 5
        assert subject("fine")[1] != before
        assert gone(before)


@pytest.mark.parametrize("kind", ["memory", "one array"])
def test_runaway_memory_is_stopped(subject, kind):
    with pytest.raises(SubjectOutOfMemory, match=r"exceeded its memory \(314572800 bytes\)"):
        subject(kind)
    assert subject("fine")[0] == "fine"


def test_memory_within_the_limit_is_allowed_whatever_the_parent_holds():
    ballast = np.ones(2**26)  # 512 MiB
    with Isolated(lambda size: len(bytearray(size)), Limits(seconds=20, memory_bytes=200 * 2**20)) as subject:
        assert subject(100 * 2**20) == 100 * 2**20
        with pytest.raises(SubjectOutOfMemory):
            subject(400 * 2**20)
    assert ballast[0] == 1


@pytest.mark.parametrize(
    ("kind", "number", "status"),
    [("abort", signal.SIGABRT, None), ("segfault", signal.SIGSEGV, None), ("exit", None, 3)],
)
def test_a_crash_is_reported_with_its_signal_or_status(subject, kind, number, status):
    with pytest.raises(SubjectCrashed) as caught:
        subject(kind)
    assert (caught.value.signal, caught.value.exit_status) == (number, status)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.signal, again.exit_status) == (str(caught.value), number, status)
    assert subject("fine")[0] == "fine"


def test_sys_exit_does_not_end_the_parent(subject):
    with pytest.raises(SubjectCrashed, match=r"raised SystemExit\(2\)"):
        subject("sys.exit")


def test_the_subjects_own_exception_comes_back_with_the_childs_traceback(subject):
    with pytest.raises(KeyError, match="missing") as caught:
        subject("raise")
    assert 'raise KeyError("missing")' in caught.value.__notes__[0]
    assert subject("fine")[0] == "fine"


def test_what_cannot_travel_has_a_stand_in(subject):
    with pytest.raises(SubjectRaised, match="UnpicklableError: a and b"):
        subject("odd exception")
    with pytest.raises(SubjectRaised, match="returned a function, not picklable"):
        subject("unpicklable result")
    assert subject("fine")[0] == "fine"


def test_unpicklable_arguments_are_refused_before_the_child_is_asked(subject):
    with pytest.raises((pickle.PicklingError, AttributeError, TypeError)):
        subject(lambda: 0)
    assert subject("fine")[0] == "fine"


def test_closures_keywords_and_large_values_work_under_fork():
    offset = np.arange(10**6)
    with Isolated(lambda array, *, factor: factor * array + offset, Limits()) as subject:
        assert np.array_equal(subject(offset, factor=2), 3 * offset)


def test_balls_travel_and_still_contain_what_they_contained():
    flint = pytest.importorskip("flint")
    third, wide, infinite = flint.arb(1) / 3, flint.arb(1, 0.5), flint.arb("inf")
    with Isolated(lambda *balls: [*balls, flint.acb(*balls[:2])], SMALL) as subject:
        back = subject(third, wide, infinite)
    for old, new in zip((third, wide, third, wide), (*back[:2], back[3].real, back[3].imag), strict=True):
        assert new.mid().man_exp() == old.mid().man_exp()
        assert new.contains(old)
        assert new.rad() <= old.rad() * (1 + flint.arb(2) ** -26)
    assert float(back[2]) == math.inf


def test_spawn_runs_an_importable_function_and_its_limits():
    with Isolated(np.linalg.det, Limits(seconds=10), start_method="spawn") as subject:
        assert subject(np.eye(2)) == 1.0
    with Isolated(time.sleep, Limits(seconds=0.2), start_method="spawn") as subject:  # starting up is not counted
        subject(0)
        with pytest.raises(SubjectHung):
            subject(60)
    with Isolated(bytearray, Limits(seconds=10, memory_bytes=2**26), start_method="spawn") as subject:
        assert len(subject(10)) == 10
        with pytest.raises(SubjectOutOfMemory):
            subject(2**28)
    with Isolated(os._exit, Limits(), start_method="spawn") as subject, pytest.raises(SubjectCrashed, match="status 4"):
        subject(4)


def test_spawn_refuses_what_a_new_interpreter_cannot_find():
    with pytest.raises(ValueError, match="importable by module and name"):
        Isolated(lambda: 0, start_method="spawn")
    with pytest.raises(ValueError, match="'fork' or 'spawn'"):
        Isolated(behave, start_method="thread")


def in_a_worker(kind):
    with Isolated(behave, Limits(seconds=3, memory_bytes=2**28)) as subject:
        try:
            return subject(kind)[0]
        except Exception as error:
            return type(error).__name__


def test_it_works_inside_daemonic_pool_workers():
    kinds = ["fine", "sleep", "memory", "abort"]
    expected = ["fine", "SubjectHung", "SubjectOutOfMemory", "SubjectCrashed"]
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.map_async(in_a_worker, kinds).get(timeout=60) == expected


def test_it_works_inside_spawned_workers():
    limits = Limits(seconds=3, memory_bytes=2**28)
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        assert pool.submit(Isolated(math.sqrt, limits), 4.0).result(60) == 2.0
        for function, argument, error in (
            (time.sleep, 60, SubjectHung),
            (bytearray, 2**30, SubjectOutOfMemory),
            (os._exit, 3, SubjectCrashed),
        ):
            with pytest.raises(error):
                pool.submit(Isolated(function, limits), argument).result(60)


def test_it_works_inside_executors_and_can_be_sent_to_them():
    with Isolated(behave, SMALL) as subject:
        ours = subject("fine")[1]
        with concurrent.futures.ProcessPoolExecutor(1) as pool:
            theirs = pool.submit(subject, "fine").result()[1]
        assert theirs != ours
        assert subject("fine")[1] == ours  # the worker's end did not kill our child


def test_a_copy_inherited_by_fork_leaves_the_parents_child_alone():
    with Isolated(behave, SMALL) as subject:
        ours = subject("fine")[1]
        pid = os.fork()
        if pid == 0:
            try:
                other = subject("fine")[1]
                subject.close()
                os._exit(0 if other != ours else 1)
            finally:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        assert subject("fine")[1] == ours


def test_calls_from_several_threads_do_not_mix():
    with Isolated(lambda number: number * 2, Limits(seconds=20)) as subject:
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            assert list(pool.map(subject, range(40))) == [2 * number for number in range(40)]
        results = []
        thread = threading.Thread(target=lambda: results.append(subject(1)))
        thread.start()
        thread.join()
        time.sleep(0.05)
        assert subject(2) == 4
        assert results == [2]


def test_nothing_is_left_behind():
    gc.collect()  # what other tests left is theirs
    descriptors = len(os.listdir("/proc/self/fd"))
    pids = []
    for kind in ("fine", "exit", "raise"):
        with Isolated(behave, SMALL) as subject:
            pids.append(subject("fine")[1])
            with contextlib.suppress(KeyError, SubjectCrashed):
                subject(kind)
    forgotten = Isolated(behave, SMALL)
    pids.append(forgotten("fine")[1])
    del forgotten
    gc.collect()
    assert all(gone(pid) for pid in pids)
    assert len(os.listdir("/proc/self/fd")) <= descriptors
    for pid in pids:
        with pytest.raises(ChildProcessError):  # reaped: no zombie of ours
            os.waitpid(pid, os.WNOHANG)


def test_close_twice_and_call_again():
    subject = Isolated(behave, SMALL)
    subject.close()
    assert subject("fine")[0] == "fine"
    subject.close()
    subject.close()


def start_a_grandchild():
    return subprocess.Popen(["sleep", "600"]).pid


def test_processes_started_by_the_subject_end_with_it():
    with Isolated(start_a_grandchild, SMALL) as subject:
        pid = subject()
        assert not gone_now(pid)
    assert gone(pid)


def gone_now(pid):
    return not os.path.exists(f"/proc/{pid}")


def test_a_killed_parent_leaves_no_hung_subject_behind():
    program = (
        "import sys, time; from whp.proofs_checks.engine.isolation import *\n"
        "import os\n"
        "with Isolated(lambda t: (os.getpid(), time.sleep(t))[0], Limits(seconds=60)) as subject:\n"
        "    print(subject(0), flush=True)\n"
        "    subject(600)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, text=True
    ) as parent:
        child = int(parent.stdout.readline())
        assert not gone_now(child)
        parent.kill()
    assert gone(child)


def test_prints_of_the_subject_do_not_reach_standard_output(capfd):
    print("before", end="")
    with Isolated(behave, SMALL) as subject:
        subject("print")
    captured = capfd.readouterr()
    assert captured.out == "before"


def test_an_interrupt_in_the_parent_discards_the_busy_child():
    with Isolated(behave, Limits(seconds=30)) as subject:
        child = subject("fine")[1]
        signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        try:
            with pytest.raises(KeyboardInterrupt):
                subject("sleep")
        finally:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
        assert gone(child)
        assert subject("fine")[0] == "fine"


@pytest.mark.parametrize("limits", [{"seconds": 0}, {"seconds": float("nan")}, {"seconds": float("inf")}])
def test_times_must_be_positive(limits):
    with pytest.raises(ValueError, match="seconds must be positive and finite"):
        Limits(**limits)


@pytest.mark.parametrize("memory_bytes", [0, -1, 1.5])
def test_memory_must_be_positive(memory_bytes):
    with pytest.raises(ValueError, match="memory_bytes must be a positive int"):
        Limits(memory_bytes=memory_bytes)


def test_no_limits_are_limits_too():
    with Isolated(behave, Limits(seconds=None, memory_bytes=None)) as subject:
        assert subject("fine")[0] == "fine"
        with pytest.raises(SubjectCrashed):
            subject("exit")
