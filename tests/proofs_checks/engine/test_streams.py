"""Random streams: functions of names, distinct, untouched by anything else."""

import json
import subprocess
import sys

import numpy as np

from whp.proofs_checks.engine.streams import integer_seed, stream, words

PROGRAM = """
import json, numpy as np
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from whp.proofs_checks.engine.streams import stream

def draw(task):
    return stream(11, "check", "sampled", task).random(2).tolist()

if __name__ == "__main__":
    with ProcessPoolExecutor(2, mp_context=get_context({method!r})) as pool:
        print(json.dumps(list(pool.map(draw, range(40)))))
"""


def table(tasks):
    return [stream(11, "check", "sampled", task).random(2).tolist() for task in range(tasks)]


def test_forty_tasks_have_forty_streams_and_more_tasks_change_none_of_them():
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    forty = table(40)
    assert len({tuple(row) for row in forty}) == 40
    assert table(200)[:40] == forty
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


def test_workers_draw_the_same_table_whether_forked_or_spawned(tmp_path):
    for method in ("fork", "spawn"):
        script = tmp_path / f"{method}.py"
        script.write_text(PROGRAM.format(method=method))
        done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
        assert json.loads(done.stdout) == table(40)


def test_names_do_not_run_into_one_another():
    assert words("a", "bc") != words("ab", "c")
    assert words("a", 1) != words("a", 11)
    assert integer_seed(0, "a") != integer_seed(1, "a")
    assert stream(0, "a").random() != stream(0, "b").random()
