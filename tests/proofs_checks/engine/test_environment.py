import functools
import importlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest
import threadpoolctl

from whp.proofs_checks.engine import environment
from whp.proofs_checks.engine.environment import Environment, fingerprint, single_thread, subject_fingerprint


def a_subject():
    return 0


class Learner:
    def fit(self):
        return 0


def test_the_environment_is_json_and_names_what_bits_depend_on():
    data = json.loads(json.dumps(Environment.current().to_json()))
    assert data["python"].startswith("3.")
    assert data["processor"]
    assert data["packages"]["numpy"] == np.__version__
    assert data["fingerprint"] == fingerprint()


def test_the_fingerprint_is_the_same_in_another_process():
    program = "from whp.proofs_checks.engine.environment import fingerprint; print(fingerprint())"
    settings = {**os.environ, "PYTHONHASHSEED": "3", "PYTHONPATH": os.pathsep.join(sys.path)}
    other = subprocess.run([sys.executable, "-c", program], env=settings, capture_output=True, text=True, check=True)
    assert other.stdout.strip() == fingerprint()


def test_the_fingerprint_follows_content_names_and_boundaries(tmp_path, monkeypatch):
    package = tmp_path / "watched_sources"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "a.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(environment, "SOURCES", ("watched_sources",))

    def now():
        importlib.invalidate_caches()
        return fingerprint.__wrapped__()

    seen = [now()]
    assert now() == seen[0]
    (package / "notes.txt").write_text("no source")
    assert now() == seen[0]
    (package / "a.py").write_text("x = 2\n")
    seen.append(now())
    (package / "a.py").rename(package / "b.py")
    seen.append(now())
    (package / "__init__.py").write_text("x = 2\n")
    (package / "b.py").write_text("")
    seen.append(now())
    assert len(set(seen)) == 4


def test_the_sources_are_found_through_their_links():
    import hashlib

    assert fingerprint() != hashlib.sha256().hexdigest()


def test_a_subject_in_a_module_follows_the_sources_of_its_package(tmp_path, monkeypatch):
    package = tmp_path / "my_solver"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "solve.py").write_text("from my_solver.core import constant\n\ndef solve():\n    return constant\n")
    (package / "core.py").write_text("constant = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    solve = importlib.import_module("my_solver.solve").solve
    before = subject_fingerprint(solve)
    assert before is not None
    assert subject_fingerprint(solve) == before
    (package / "core.py").write_text("constant = 2\n")
    assert subject_fingerprint(solve) != before


def test_functions_and_classes_have_fingerprints_of_their_own():
    found = {
        subject_fingerprint(subject) for subject in (a_subject, Learner, np.linalg.norm, np.linalg.det, fingerprint)
    }
    assert None not in found
    assert len(found) == 5


@pytest.mark.parametrize(
    "subject",
    [lambda: 0, Learner(), Learner().fit, functools.partial(a_subject), len, (lambda n: lambda: n)(1), 3, None],
)
def test_state_that_is_in_no_file_has_no_fingerprint(subject):
    assert subject_fingerprint(subject) is None


def test_a_declared_version_is_a_fingerprint():
    def versioned(version):
        learner = Learner()
        learner.whp_version = version
        return subject_fingerprint(learner)

    assert versioned("1") == versioned("1") != versioned("2")
    assert versioned(1) is None


def test_a_decorated_replacement_is_not_taken_for_the_original():
    @functools.wraps(a_subject)
    def replacement():
        return 1

    assert subject_fingerprint(replacement) is None


def test_one_thread_inside_and_the_old_number_outside():
    np.ones((2, 2)) @ np.ones((2, 2))
    before = [pool["num_threads"] for pool in threadpoolctl.threadpool_info()]
    with single_thread():
        assert {pool["num_threads"] for pool in threadpoolctl.threadpool_info()} == {1}
    assert [pool["num_threads"] for pool in threadpoolctl.threadpool_info()] == before


def test_torch_is_limited_only_where_it_is_imported(monkeypatch):
    class Torch:
        threads = 8

        def get_num_threads(self):
            return self.threads

        def set_num_threads(self, number):
            self.threads = number

    torch = Torch()
    monkeypatch.setitem(sys.modules, "torch", torch)
    with pytest.raises(KeyError), single_thread():
        assert torch.threads == 1
        raise KeyError
    assert torch.threads == 8


def test_torch_is_not_imported_for_it():
    program = (
        "import sys; from whp.proofs_checks.engine.environment import single_thread, Environment\n"
        "with single_thread(): Environment.current()\n"
        "assert not {'torch', 'scipy', 'sympy', 'networkx', 'cvxpy'} & set(sys.modules)"
    )
    settings = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", program], env=settings, check=True)
