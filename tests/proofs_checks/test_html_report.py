"""The report: complete in itself, safe against hostile text, usable with keyboard, phone and dark mode."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from whp.proofs_checks.engine import Kind, MutantsReport, Report, mutants, verify
from whp.proofs_checks.engine.files import write_all
from whp.proofs_checks.html import write_junit, write_markdown, write_report
from whp.theory.core import registry

HERE = Path(__file__).resolve().parent
TEXTBOOK = HERE.parents[1] / "examples" / "textbook"
TEXTBOOK_MODULES = ("whp_textbook.hoeffding", "whp_textbook.perceptron", "whp_textbook.ucb1")
OUTCOMES = str(HERE / "report_examples" / "whp_report_examples.py")
VOID = ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")


@dataclass(frozen=True)
class Written:
    """A report on disk, and what it was made from."""

    path: Path
    result: Report
    mutants: MutantsReport | None

    @property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")


def _write(folder: Path, *patterns: str, subject: Any = None, modules: Any, mutated: str = "") -> Written:
    """Verify in a registry of its own, so that no other test meets these theorems."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "_REGISTRY", registry.Registry())
        patch.syspath_prepend(str(TEXTBOOK))
        result = verify(*patterns, budget="quick", modules=modules, subject=subject)
        killed = mutants(mutated, budget="quick", modules=modules) if mutated else None
        paths = write_all(result, folder / "evidence")
        return Written(write_report(result, paths, folder / "deep" / "report.html", killed), result, killed)


@pytest.fixture(scope="module")
def textbook(tmp_path_factory: pytest.TempPathFactory) -> Written:
    patterns = ("hoeffding.*", "perceptron.*", "ucb1.*")
    return _write(tmp_path_factory.mktemp("textbook"), *patterns, modules=TEXTBOOK_MODULES, mutated="perceptron.*")


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Written:
    folder = tmp_path_factory.mktemp("outcomes")
    return _write(folder, "report_examples.*", modules=(OUTCOMES,), mutated="report_examples.proved")


@pytest.fixture(scope="module")
def wrong_learner(tmp_path_factory: pytest.TempPathFactory) -> Written:
    subject = {"learner": "whp_textbook.perceptron:WrongSign"}
    return _write(tmp_path_factory.mktemp("wrong"), "perceptron.*", subject=subject, modules=TEXTBOOK_MODULES)


@dataclass
class Page(HTMLParser):
    """What a page holds; raises where tags are not closed in order."""

    ids: Counter[str] = field(default_factory=Counter)
    attributes: list[tuple[str, str, str]] = field(default_factory=list)
    tags: Counter[str] = field(default_factory=Counter)
    texts: dict[str, str] = field(default_factory=dict)
    _open: list[str] = field(default_factory=list)
    _article: str = ""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    @classmethod
    def read(cls, text: str) -> Page:
        page = cls()
        page.feed(text)
        page.close()
        assert not page._open
        return page

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), (tag, names)
        for name, value in attrs:
            self.attributes.append((tag, name, value or ""))
            if name == "id":
                self.ids[value or ""] += 1
        if tag == "article":
            self._article = dict(attrs)["id"] or ""
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag, (tag, self.getpos())
        if tag == "article":
            self._article = ""

    def handle_data(self, data: str) -> None:
        if self._article:
            self.texts[self._article] = f"{self.texts.get(self._article, '')} {data}"


def test_the_page_is_well_formed_and_its_identifiers_are_unique(outcomes: Written, textbook: Written) -> None:
    for written in (outcomes, textbook):
        page = Page.read(written.text)
        assert max(page.ids.values()) == 1
        pointers = [value for _, name, value in page.attributes if name in ("href", "aria-labelledby", "for")]
        targets = [value.removeprefix("#") for value in pointers if value != "data:,"]
        assert targets and set(targets) <= set(page.ids)


def test_nothing_refers_to_another_file_or_host(outcomes: Written, textbook: Written) -> None:
    for written in (outcomes, textbook):
        text = re.sub(r"url\(data:font/woff2;base64,[A-Za-z0-9+/=]+\)", "url(data:)", written.text)
        assert "//" not in "".join(re.findall(r"<style>.*?</style>", text, re.DOTALL))
        assert not re.search(r"https?:|@import|fetch\(|XMLHttpRequest|WebSocket|\bimport\(|sendBeacon", text)
        assert all(found in ("data:", "#") or found.startswith("#f") for found in re.findall(r"url\(([^)]*)\)", text))
        for tag, name, value in Page.read(text).attributes:
            assert name not in ("src", "srcset", "action", "poster", "background") and not name.startswith("on")
            if name in ("href", "data", "xlink:href", "formaction"):
                assert value.startswith("#") or (tag, value) == ("link", "data:,")


def test_every_theorem_has_a_section_with_both_verdicts_scope_and_commands(textbook: Written) -> None:
    sections = Page.read(textbook.text).texts
    assert list(sections) == [t.theorem.id for t in textbook.result.theorems]
    for t in textbook.result.theorems:
        text = " ".join(sections[t.theorem.id].split())
        parts = (t.theorem.title, t.theorem.provenance, str(t.statement.kind), str(t.subject.kind), t.subject.scope)
        assert all(part in text for part in parts)
        assert "Statement" in text and "Subject" in text
        assert f"whp verify {t.theorem.id} --budget quick --seed 0 --theorems whp_textbook." in text
        assert all("whp replay " in text and c.check.name in text for c in t.checks)


def test_a_bound_is_typeset_and_its_value_stands_beside_the_measurement(textbook: Written) -> None:
    assert "<msqrt>" in textbook.text and "<mi>&#948;</mi>" in textbook.text
    hoeffding = " ".join(Page.read(textbook.text).texts["hoeffding.T1"].split())
    assert "bound here" in hoeffding and "0.1224" in hoeffding  # sqrt(log(20) / 200)
    assert "would refute" in hoeffding


def test_what_lies_below_zero_is_called_broken_only_where_a_violation_was_found(outcomes: Written) -> None:
    sections = Page.read(outcomes.text).texts
    assert "fails as computed by less than the rounding model allows" in sections["report_examples.rounding"]
    assert "hatched, the clause fails as computed" in sections["report_examples.refuted"]
    assert "Below zero" not in sections["report_examples.corrected"]


def test_every_mutant_is_told_with_its_fate(textbook: Written, outcomes: Written) -> None:
    text = Page.read(textbook.text).texts
    assert "Mutants: 3 of 3 caught" in text["perceptron.T1"] and "wrong sign" in text["perceptron.T1"]
    assert "2 mutants registered" not in text["hoeffding.T1"]  # mutants were run, though not of this theorem
    assert "survived" in Page.read(outcomes.text).texts["report_examples.proved"]


def test_every_outcome_is_said_in_words(outcomes: Written) -> None:
    sections = Page.read(outcomes.text).texts
    kinds = {t.statement.kind for t in outcomes.result.theorems}
    assert kinds == set(Kind) - {Kind.NOT_APPLICABLE}
    for t in outcomes.result.theorems:
        assert str(t.statement.kind) in sections[t.theorem.id]
        assert f'href="#i-{str(t.statement.kind).replace(" ", "-")}"' in outcomes.text
    assert "2 of 11 verdicts are not the expected one." in outcomes.text


def test_hostile_text_stays_text(outcomes: Written) -> None:
    page = Page.read(outcomes.text)
    assert page.tags["script"] == 1 and page.tags["style"] == 1 and page.tags["img"] == 0
    assert "\x07" not in outcomes.text
    assert page.texts["report_examples.refuted"].count("<script>alert(1)</script>") >= 6


def test_a_counterexample_is_shown_with_both_sides_and_the_command_that_replays_it(wrong_learner: Written) -> None:
    text = " ".join(Page.read(wrong_learner.text).texts["perceptron.T1"].split())
    assert "Your implementation broke 1 of 1 theorem" in wrong_learner.text
    assert "Counterexample to ‘mistakes’" in text and "separator [-1.] (1, float64)" in text
    assert "mistakes broken 3 ≤ 1 −2" in text  # three mistakes where the bound allows one
    assert "this speaks against the subject" in text
    assert "learner=whp_textbook.perceptron:WrongSign" in text and "whp replay " in text


def test_a_subject_that_cannot_be_found_again_is_reported_without_its_sides(tmp_path: Path) -> None:
    subject = {"sorter": lambda values: [*values, -1]}
    written = _write(tmp_path, "report_examples.corrected", subject=subject, modules=(OUTCOMES,))
    assert "both sides could not be computed again" in written.text


def test_sixty_theorems_stay_far_below_two_megabytes(outcomes: Written, tmp_path: Path) -> None:
    result = outcomes.result
    many = Report(result.theorems * 6, result.budget, result.seed, result.seconds, {}, result.modules)
    assert len(many.theorems) >= 60
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "_REGISTRY", registry.Registry())
        registry.load_papers().add_module(OUTCOMES)
        assert write_report(many, {}, tmp_path / "many.html").stat().st_size < 1_000_000


def test_markdown_holds_every_verdict_and_no_markup_of_the_theorems(outcomes: Written, tmp_path: Path) -> None:
    text = write_markdown(outcomes.result, tmp_path / "deep" / "report.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| report")]
    assert len(rows) == len(outcomes.result.theorems)
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 7 for row in rows)
    prose = "\n".join(line for line in text.splitlines() if not line.startswith("    "))
    assert "Not as expected" in prose and not re.search(r"(?<!\\)<(script|img|/style)", prose)


def test_junit_counts_unexpected_verdicts_as_failures_and_raising_subjects_as_errors(
    outcomes: Written, tmp_path: Path
) -> None:
    root = ElementTree.parse(write_junit(outcomes.result, tmp_path / "deep" / "junit.xml")).getroot()
    assert {k: root.get(k) for k in ("tests", "failures", "errors", "skipped")} == {
        "tests": "11",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
    }
    bad = {c.get("name", "").split()[0] for c in root.iter("testcase") if c.find("failure") is not None}
    assert bad == {"report_examples.inconsistent"}


def test_nothing_run_is_a_failure_in_every_form(tmp_path: Path) -> None:
    empty = Report((), "quick", 0, 0.0)
    page = write_report(empty, {}, tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Nothing ran, so nothing was shown." in page
    assert "Nothing ran" in write_markdown(empty, tmp_path / "r.md").read_text(encoding="utf-8")
    assert ElementTree.parse(write_junit(empty, tmp_path / "r.xml")).getroot().get("failures") == "1"


# In a browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Headless Chromium."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    binary = next(filter(None, map(shutil.which, names)), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None or find_spec("selenium") is None:
        pytest.skip("no browser: needs Chromium, chromedriver and the package selenium")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chromium = webdriver.Chrome(options=options, service=Service(driver))
    chromium.execute_cdp_cmd("Network.enable", {})
    yield chromium
    chromium.quit()


def _open(browser: Any, written: Written, width: int = 1200, scheme: str = "light") -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    media = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
    features = [{"name": name, "value": value} for name, value in media.items()]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.get("about:blank")
    browser.get_log("performance"), browser.get_log("browser")
    browser.get(written.path.as_uri())


def _shown(browser: Any) -> list[str]:
    script = (
        "return [...document.querySelectorAll(arguments[0])].filter(e => e.offsetParent).map(e => e.dataset.theorem)"
    )
    rows: list[str] = browser.execute_script(script, "tr[data-theorem]")
    assert browser.execute_script(script, "article[data-theorem]") == rows
    return [name.split(".")[1] for name in rows]


def test_in_a_browser_nothing_is_requested_and_the_console_is_clean(browser: Any, outcomes: Written) -> None:
    _open(browser, outcomes)
    browser.find_element("css selector", ".chip").click()
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    requests = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
    assert requests, "the page itself is a request, so the log works"
    assert {url for url in requests if not url.startswith("data:")} == {outcomes.path.as_uri()}
    assert browser.get_log("browser") == []
    assert browser.execute_script("return document.fonts.check('16px \"whp math\"')")


def test_in_a_browser_the_filters_choose_by_verdict_provenance_paper_and_text(browser: Any, outcomes: Written) -> None:
    _open(browser, outcomes)
    chip = {e.get_attribute("data-value"): e for e in browser.find_elements("css selector", ".chip")}
    everything = _shown(browser)
    assert len(everything) == len(outcomes.result.theorems)
    chip["refuted"].click()
    assert _shown(browser) == ["refuted", "event"]
    assert "2 of 11 theorems shown" in browser.find_element("id", "f-shown").text
    chip["proved"].click()
    assert _shown(browser) == ["proved", "refuted", "event"]
    chip["derived"].click()
    assert _shown(browser) == ["proved", "event"]
    browser.find_element("id", "f-text").send_keys("coin HEADS")
    assert _shown(browser) == ["event"]
    browser.find_element("id", "f-text").send_keys(" nowhere to be found")
    assert _shown(browser) == [] and browser.find_element("id", "f-nothing").is_displayed()
    browser.find_element("id", "f-reset").click()
    assert _shown(browser) == everything
    chip["no"].click()
    assert _shown(browser) == ["inconsistent", "error"]
    browser.execute_script("location.hash = '#report_examples.proved'")
    assert _shown(browser) == everything, "a link to a hidden theorem shows it"


def test_in_a_browser_the_paper_filter_leaves_one_paper(browser: Any, textbook: Written) -> None:
    from selenium.webdriver.support.select import Select

    _open(browser, textbook)
    Select(browser.find_element("id", "f-paper")).select_by_value("ucb1")
    headings = [h.text for h in browser.find_elements("css selector", "section.paper h2") if h.is_displayed()]
    assert headings == ["Finite-time analysis of the multiarmed bandit problem"]


def test_in_a_browser_the_filters_work_by_keyboard(browser: Any, outcomes: Written) -> None:
    from selenium.webdriver.common.keys import Keys

    _open(browser, outcomes)
    search = browser.find_element("id", "f-text")
    search.send_keys(Keys.TAB)  # to the paper
    browser.switch_to.active_element.send_keys(Keys.TAB)  # to the first verdict
    chip = browser.switch_to.active_element
    chip.send_keys(Keys.SPACE)
    assert chip.get_attribute("aria-pressed") == "true" and _shown(browser) == ["proved"]
    assert browser.execute_script("return getComputedStyle(arguments[0]).outlineStyle", chip) != "none"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_a_browser_all_text_has_the_contrast_that_accessibility_asks_for(
    browser: Any, outcomes: Written, scheme: str
) -> None:
    _open(browser, outcomes, scheme=scheme)
    faint = browser.execute_script(_CONTRAST)
    assert faint == []


_CONTRAST = """
for (const d of document.querySelectorAll("details")) d.open = true;
const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
const rgba = colour => {
  canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
  return canvas.getImageData(0, 0, 1, 1).data;
};
const light = c => [0, 1, 2].map(i => c[i] / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
const faint = [];
for (const e of document.querySelectorAll("body *")) {
  const text = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
  if (!text || e.closest("svg, script, .visually-hidden")) continue;
  let under = e;
  while (under && rgba(getComputedStyle(under).backgroundColor)[3] < 255) under = under.parentElement;
  const [a, b] = [getComputedStyle(e).color, getComputedStyle(under).backgroundColor].map(c => light(rgba(c)));
  const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  if (ratio < 4.5) faint.push([e.className || e.tagName, ratio.toFixed(2)]);
}
return faint;
"""


@pytest.mark.parametrize("width", [1200, 360])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_a_browser_the_page_fits_desktop_and_phone(
    browser: Any, outcomes: Written, textbook: Written, width: int, scheme: str, tmp_path: Path
) -> None:
    for name, written in (("outcomes", outcomes), ("textbook", textbook)):
        _open(browser, written, width, scheme)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        colour = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", colour)[:3])) < 200) == (scheme == "dark")
        screenshot = tmp_path / f"{name}-{width}-{scheme}.png"
        assert browser.save_screenshot(str(screenshot)) and screenshot.stat().st_size > 10_000
