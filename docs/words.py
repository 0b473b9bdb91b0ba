"""Write the section *In plain words* of docs/measures.md from the measures themselves. Run: python docs/words.py

`tests/docs` holds the page against it.
"""

from __future__ import annotations

from pathlib import Path

from microagg.evaluation.measures import OWN, measure_named

PAGE = Path(__file__).with_name("measures.md")
HEADING = "## In plain words\n"


def section() -> str:
    """All measures of microagg in words, group by group."""
    lines = [
        HEADING,
        "What `microagg explain <name>` and reports say of each measure, when it misleads, and where it comes from.\n"
        "`python docs/words.py` writes this section; change the words beside the measure's definition.",
    ]
    group = ""
    for name in OWN:
        one = measure_named(name)
        if one.group != group:
            group = one.group
            lines.append(f"\n**{one.about}, {group}**\n")
        words = one.explained
        lines.append(f"- `{name}`: {words.plain} *Misleads:* {words.misleads} *Reference:* {words.reference}.")
    return "\n".join(lines) + "\n"


def page_with(text: str) -> str:
    """The page with the section anew; it is the last one."""
    return text.partition(HEADING)[0] + section()


if __name__ == "__main__":
    PAGE.write_text(page_with(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
