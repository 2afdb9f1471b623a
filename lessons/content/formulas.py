"""LaTeX to MathML Core, on the server."""

from math_core import LatexError, LatexToMathML

from lessons.content.faults import ContentError

_converter = LatexToMathML(fancy_error=False)


def formula(latex: str, *, display: bool) -> str:
    """MathML for one formula; raises ContentError with what is wrong in it."""
    try:
        html: str = _converter.convert_with_local_state(latex, displaystyle=display)
    except LatexError as error:
        where, _, what = str(error).rstrip(".").partition(": ")
        raise ContentError(f"the formula “{latex}” has an error at {where}: {what}.") from error
    if " style=" in html:  # the page's policy refuses it, and the formula would look wrong
        raise ContentError(f"the formula “{latex}” needs inline style: leave out \\! and colours.")
    return html
