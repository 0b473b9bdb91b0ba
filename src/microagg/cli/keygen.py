"""``microagg keygen``: a key to sign releases with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from microagg.cli.terminal import explains_errors, say

__all__ = ["keygen"]


@explains_errors
def keygen(
    name: Annotated[Path, typer.Argument(help="The files are called NAME.pem and NAME.pub.pem.")],
) -> None:
    """Make a key to sign releases with, and the public one that readers compare with."""
    from microagg.releases.folder.places import refuse_place
    from microagg.releases.folder.signing import fingerprint_of, write_key_pair

    refuse_place(name, what="key")
    secret, public = write_key_pair(name)
    say(f"Wrote {secret}: keep it, and show it to nobody. Sign with: microagg release ... --sign {secret}")
    say(f"Wrote {public}: give it to your readers by another way than the release, for --signed-by {public}")
    typer.echo(fingerprint_of(public))
