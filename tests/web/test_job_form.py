"""The form of a job, the editor of TOML, and the import of a crontab."""

import re

from playwright.sync_api import Locator, Page, expect

from tests.web.pages import visit
from tests.web.world import Site


def test_the_form_explains_an_expression_and_points_at_its_error(page: Page, site: Site) -> None:
    visit(page, "/new/job")
    expression = page.get_by_role("textbox", name="Expression")

    expression.fill("0 9 * * MON-FRI")
    expect(page.get_by_role("table", name="Next times").locator("tbody tr")).to_have_count(10)
    expect(page.get_by_text(re.compile("at 09:00"))).to_be_visible()
    expression.fill("0 25 * * *")

    expect(page.locator("[data-wrong]")).to_have_text("25")
    expect(page.get_by_role("table", name="Next times")).to_be_hidden()


def test_a_job_is_created_and_edited_by_the_keyboard(page: Page, site: Site) -> None:
    visit(page, "/new/job")

    page.get_by_label("Id").focus()
    page.keyboard.type("typed-web")
    page.get_by_label("Command").focus()
    page.keyboard.type("echo typed")
    page.get_by_role("textbox", name="Expression").fill("15 4 * * *")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/jobs/typed-web$"))
    assert site.get("/api/jobs/typed-web")["document"]["command"].strip() == "echo typed"

    expect(page.get_by_role("button", name="Edit")).to_be_visible()
    page.keyboard.press("e")
    page.get_by_label("Description").fill("Edited by keys")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/jobs/typed-web$"))
    assert site.get("/api/jobs/typed-web")["description"] == "Edited by keys"


def test_a_change_is_refused_if_the_job_was_changed_meanwhile(page: Page, site: Site) -> None:
    site.define('[[jobs]]\nid = "twice-web"\ncommand = "echo 1"\n')
    visit(page, "/jobs/twice-web/edit")

    page.get_by_label("Description").fill("Mine")
    site.define('[[jobs]]\nid = "twice-web"\ndescription = "Theirs"\ncommand = "echo 1"\n')
    page.get_by_role("button", name="Save").click()

    expect(page.get_by_role("alert").filter(has_text=re.compile("changed|revision"))).to_be_visible()
    assert site.get("/api/jobs/twice-web")["description"] == "Theirs"


def test_a_job_of_a_file_is_read_only_with_file_and_line(page: Page) -> None:
    visit(page, "/jobs/backup-database/edit")

    expect(page.get_by_text(re.compile(r"backup-database is defined in .*foliot\.toml:\d+"))).to_be_visible()
    expect(page.get_by_role("button", name="Save")).to_have_count(0)


def test_the_editor_marks_what_is_wrong_and_saves_a_workflow(page: Page, site: Site) -> None:
    visit(page, "/new/job?way=toml")
    editor = page.get_by_label("Definitions as TOML")
    save = page.get_by_role("button", name="Save")

    paste(editor, '[[workflows]]\nid = "typed-flow"\n[[workflows.steps]]\nname = "one"\ncomand = "true"\n')
    expect(page.locator(".cm-lint-marker-error").first).to_be_visible()
    expect(save).to_be_disabled()
    paste(
        editor,
        '[[workflows]]\nid = "typed-flow"\n[[workflows.steps]]\nname = "one"\ncommand = "true"\n'
        '[[workflows.steps]]\nname = "two"\nafter = "one"\ncommand = "true"\n',
    )
    expect(save).to_be_enabled()
    save.click()

    expect(page).to_have_url(re.compile("/workflows/typed-flow$"))
    assert [step["name"] for step in site.get("/api/workflows/typed-flow")["steps"]] == ["one", "two"]


def test_a_crontab_is_read_line_by_line_and_imported_paused(page: Page, site: Site) -> None:
    visit(page, "/import")

    page.get_by_role("textbox", name="Crontab").fill("30 2 * * *  /usr/local/bin/web-import\n61 * * * *  /bin/never\n")
    expect(page.get_by_text("1: 30 2 * * *")).to_be_visible()
    expect(page.get_by_role("listitem").filter(has_text="2: 61")).to_contain_text("61")
    page.get_by_role("button", name="Import 1 job").click()

    expect(page.get_by_text("1 job imported, paused.")).to_be_visible()
    assert site.get("/api/jobs/web-import")["paused"]


def paste(editor: Locator, text: str) -> None:
    """Replace the text of an editor as a paste does. `fill` would let Chromium insert elements with inline styles."""
    editor.press("Control+a")
    editor.evaluate(
        """(editor, text) => {
            const clipboardData = new DataTransfer();
            clipboardData.setData("text/plain", text);
            editor.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
        }""",
        text,
    )
