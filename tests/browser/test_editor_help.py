"""Tests of completion, hover and help in the editor, in a real browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.browser_window import Window
from tests.support.services import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

    from tests.browser.populated_service import PopulatedService

MATMUL_MFMA = (ROOT / "examples" / "matmul_mfma.hip").read_text()
MFMA = "__builtin_amdgcn_mfma_f32_32x32x8f16"


@pytest.fixture(name="window")
def _window(browser: Browser, populated: PopulatedService) -> Iterator[Window]:
    window = Window(browser, populated.service.url)
    yield window
    window.close()
    assert window.console_errors == []


def _edit(window: Window, code: str) -> Page:
    page = window.open("/problems/leaky-relu")
    page.locator(".cm-content").press("ControlOrMeta+a")
    page.keyboard.insert_text(code)
    return page


def test_names_of_hip_are_completed(window: Window) -> None:
    """Typing offers the names with their explanation, and a choice is inserted."""
    page = _edit(window, "float sum = ")
    page.keyboard.type("__shfl_x")
    options = page.get_by_role("listbox", name="Completions").get_by_role("option")
    expect(options.first).to_have_text("__shfl_xor")
    expect(page.locator(".hip-help[data-name=__shfl_xor]")).to_contain_text("start with 32")
    options.first.click()  # Enter works only some time after the list has opened
    expect(page.locator(".cm-content")).to_contain_text("float sum = __shfl_xor")
    expect(options).to_have_count(0)


def test_nothing_is_completed_in_a_comment(window: Window) -> None:
    """Even on request there is no list in a comment."""
    page = _edit(window, "// __shfl_")
    page.keyboard.type("xo")
    page.keyboard.press("Control+Space")
    expect(page.locator(".cm-content")).to_contain_text("// __shfl_xo")
    expect(page.get_by_role("listbox", name="Completions")).to_have_count(0)


def test_a_matrix_builtin_has_a_picture_of_its_tile(window: Window) -> None:
    """Hovering shows the signature, the cost, and which lane has which elements."""
    page = _edit(window, f"auto tile = {MFMA}(a, b, c, 0, 0, 0);\n__half2 pair;\n")
    page.get_by_text(MFMA).hover()
    shown = page.locator(f".hip-help[data-name={MFMA}]")
    expect(shown).to_contain_text("Float32x16")
    expect(shown).to_contain_text("16,384 FLOPs per wave, 32 cycles")
    picture = shown.get_by_role("img", name=re.compile("Lanes of 32.32.8"))
    expect(picture).to_be_visible()
    expect(picture.locator("rect")).to_have_count(64 + 64 + 256)


def test_help_opens_with_the_keyboard(window: Window) -> None:
    """F1 explains the name at the cursor, and Escape closes the explanation."""
    page = _edit(window, "__half2 pair;")
    page.keyboard.press("Home")
    page.keyboard.press("F1")
    shown = page.locator(".hip-help[data-name=__half2]")
    expect(shown).to_contain_text("v_pk_")
    page.keyboard.press("Escape")
    expect(shown).to_have_count(0)


def test_a_matrix_instruction_in_the_assembly_has_its_tile(window: Window) -> None:
    """The help on an instruction of the matrix cores has the picture of its operands."""
    page = window.open("/problems/matrix-multiplication")
    page.get_by_label("dtype").select_option("float16")
    page.locator(".cm-content").press("ControlOrMeta+a")
    page.keyboard.insert_text(MATMUL_MFMA)
    page.get_by_role("tab", name="Assembly").click()
    instruction = page.get_by_role("option").filter(has_text="v_mfma_").first
    instruction.hover()
    expect(page.locator(".instruction-help")).to_contain_text("Matrix multiply-add")
    expect(page.get_by_role("img", name=re.compile("Lanes of"))).to_be_visible()
