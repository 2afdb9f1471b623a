"""LaTeX to MathML Core, on the server."""

import re

from math_core import LatexError, LatexToMathML

from lessons.content.faults import ContentError
from lessons.numbers import decimal_sign

_converter = LatexToMathML(fancy_error=False)
_DECIMALS = re.compile(r"(<mn>\d+)\.(\d+</mn>)")


def formula(latex: str, *, display: bool, language: str = "en") -> str:
    """MathML for one formula, which is written the same for all; its decimals get the sign of the
    reader's language. Raises ContentError with what is wrong in it."""
    try:
        html: str = _converter.convert_with_local_state(latex, displaystyle=display)
    except LatexError as error:
        where, _, what = str(error).rstrip(".").partition(": ")
        raise ContentError(f"the formula “{latex}” has an error at {where}: {what}.") from error
    if " style=" in html:  # the page's policy refuses it, and the formula would look wrong
        raise ContentError(f"the formula “{latex}” needs inline style: leave out \\! and colours.")
    return _DECIMALS.sub(rf"\g<1>{decimal_sign(language)}\g<2>", html)
