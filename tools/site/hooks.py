"""For mkdocs: the menu, the pages that come from elsewhere, and what is filled into pages when the site is built.

A page of docs/ reads well where it lies. On the site, the papers of the repository join it, a comment such as
``<!-- site: recipe keys -->`` is filled with what the code says, and links that leave docs/ are led to their place.
"""

from __future__ import annotations

import re
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent))

from filled import FILLED, examples_page, pages_page
from index import plain_index
from repository import DOCS, FILES, PAPERS, ROOT, rewritten

_MARK = re.compile(r"^<!-- site: ([a-z ]+) -->$", re.MULTILINE)
_COMMANDS = re.compile(r"^```\n(?=(?:microagg|make|pip|python) )", re.MULTILINE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Replace every line of the menu that has a * by the pages that no other line names."""
    pages = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
    named = set(_named(config.nav))
    config.nav = _whole(config.nav, [page for page in pages if page not in named])
    return config


def _named(nav: Any) -> list[str]:
    """The pages that a menu names."""
    if isinstance(nav, str):
        return [nav]
    values = nav.values() if isinstance(nav, dict) else nav
    return [page for one in values for page in _named(one)]


def _whole(nav: list[Any], unnamed: list[str]) -> list[Any]:
    made: list[Any] = []
    for entry in nav:
        title, what = next(iter(entry.items())) if isinstance(entry, dict) else (None, entry)
        if isinstance(what, list):
            made.append({title: _whole(what, unnamed)})
        elif "*" not in what:
            made.append(entry)
        else:
            depth = what.count("/")
            found = [page for page in unnamed if page.count("/") == depth and fnmatch(page, what)]
            unnamed[:] = [page for page in unnamed if page not in found]
            made += [page if title is None else {title: page} for page in found]
    return made


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the papers of the repository, and the files that pages link to."""
    needed: set[str] = set()
    for source, place in PAPERS.items():
        if source != "README.md":
            text, files_of = rewritten((ROOT / source).read_text(encoding="utf-8"), source, place)
            needed |= files_of
            files.append(File.generated(config, place, content=text))
    text, files_of = rewritten(examples_page(), "examples/README.md", "project/examples.md")
    files.append(File.generated(config, "project/examples.md", content=text))
    files.append(File.generated(config, "project/pages.md", content=pages_page(config.nav)))
    needed |= files_of
    for file in (one for one in files.documentation_pages() if one.generated_by is None):
        needed |= rewritten(file.content_string, f"docs/{file.src_uri}", file.src_uri)[1]
    for there in sorted(needed):
        files.append(File.generated(config, f"{FILES}/{there}", abs_src_path=str(ROOT / there)))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Fill what the code says into the page, and lead its links to their places."""
    place = page.file.src_uri
    if place == "index.md":
        page.meta["hide"] = ["navigation", "toc"]
    if not place.startswith("project/"):
        markdown, _needed = rewritten(markdown, f"docs/{place}", place)
    markdown = _COMMANDS.sub("```sh\n", markdown)
    return _MARK.sub(lambda mark: FILLED[mark[1]](), markdown)


def on_page_content(html: str, *, page: Page, **_: Any) -> str:
    """The tree of methods is drawn as one."""
    if page.file.src_uri != "which_method.md":
        return html
    before, first, rest = html.partition("<ul>")
    tree, heading, after = rest.partition("<h2")
    return f'{before}<div class="tree">{first}{tree}</div>{heading}{after}'


def on_post_build(config: MkDocsConfig) -> None:
    """Write llms.txt: every page in one line, for programs that read."""
    site = Path(config.site_dir)
    (site / "llms.txt").write_text(plain_index(config.nav, config.site_description or ""), encoding="utf-8")
