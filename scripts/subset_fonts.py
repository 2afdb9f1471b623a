"""Subsets the fonts of the locked packages into static/fonts and writes static/css/fonts.css.

    python scripts/subset_fonts.py NODE_MODULES      (scripts/vendor calls it)

What is kept: Latin with French and Turkish letters, punctuation, the arrows and signs that the
pages use, and of STIX Two Math a generous set for MathML. Weights are cut to those in use.
Text fonts are `optional` and have a fallback face with the same metrics, so that a page keeps
its lines whether or not the font was there in time.
"""

# ruff: noqa: E501  (a range of characters is one line)

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

STATIC = Path(__file__).resolve().parents[1] / "static"

LATIN = "U+0020-007E, U+00A0-00FF, U+0131, U+0152-0153, U+2009, U+200A, U+2010-2015, U+2018-201E, U+2020-2022, U+2026, U+202F, U+2030, U+2032-2033, U+2039-203A, U+2044, U+20AC, U+2122, U+2212"
EXTENDED = "U+0100-0130, U+0132-0151, U+0154-017F, U+0218-021B, U+1E9E"
SIGNS = "U+02B0, U+03A3, U+03A9, U+0394, U+03B1-03C9, U+2070-208E, U+2190-2194, U+21D2, U+2202, U+2207, U+2211, U+221A, U+221E, U+2248, U+2260, U+2264-2265, U+2713, U+2717, U+22C5"
MATH = "U+0020-007E, U+00A0, U+00AC, U+00B1, U+00B2-00B3, U+00B7, U+00B9, U+00D7, U+00F7, U+0302-0305, U+0370-03FF, U+2016, U+2026, U+2032-2034, U+2040, U+2061-2064, U+2070-208E, U+20D7, U+2102, U+210E, U+210F, U+2113, U+2115, U+211A, U+211D, U+2124, U+2190-2194, U+21A6, U+21D0-21D4, U+2200-222D, U+2234-2237, U+223C, U+2243, U+2245, U+2248, U+2254, U+2260-2265, U+226A-226B, U+2282-2287, U+2295-2299, U+22A4-22A5, U+22C5, U+22C6, U+22EE-22F1, U+2308-230B, U+23B4-23B5, U+23DC-23E1, U+27E6-27E9, U+27F5-27FA, U+2A00-2A02, U+1D400-1D467, U+1D468-1D49B, U+1D49C-1D4CF, U+1D538-1D56B, U+1D6A4-1D6E1, U+1D6E2-1D71B, U+1D7CE-1D7D7"


@dataclass(frozen=True)
class Face:
    file: str  # in static/fonts
    family: str
    source: str  # in node_modules
    ranges: str
    weights: tuple[int, int] | None = None
    italic: bool = False
    display: str = "optional"
    ranged: bool = True  # False: the browser may use it for any character it has


SERIF = "@fontsource-variable/source-serif-4/files/source-serif-4-{}.woff2"
MONO = "@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2"
INTER = "inter-ui/variable/InterVariable.woff2"
STIX = "@fontsource/stix-two-math/files/stix-two-math-latin-400-normal.woff2"
SERIF_WEIGHTS, INTER_WEIGHTS = (400, 650), (400, 650)
FACES = (
    Face("source-serif", "Source Serif", SERIF.format("latin-wght-normal"), LATIN, SERIF_WEIGHTS),
    Face("source-serif-ext", "Source Serif", SERIF.format("latin-ext-wght-normal"), EXTENDED, SERIF_WEIGHTS),
    Face("source-serif-italic", "Source Serif", SERIF.format("latin-wght-italic"), LATIN, SERIF_WEIGHTS, italic=True),
    Face("source-serif-italic-ext", "Source Serif", SERIF.format("latin-ext-wght-italic"), EXTENDED, SERIF_WEIGHTS, italic=True),
    Face("inter", "Inter", INTER, f"{LATIN}, {SIGNS}", INTER_WEIGHTS),
    Face("inter-ext", "Inter", INTER, EXTENDED, INTER_WEIGHTS),
    Face("jetbrains-mono", "JetBrains Mono", MONO, LATIN, (400, 600), display="swap"),
    Face("stix-two-math", "STIX Two Math", STIX, MATH, display="swap", ranged=False),
)  # fmt: skip
LICENCES = {
    "source-serif": "@fontsource-variable/source-serif-4/LICENSE",
    "inter": "inter-ui/LICENSE.txt",
    "jetbrains-mono": "@fontsource-variable/jetbrains-mono/LICENSE",
    "stix-two-math": "@fontsource/stix-two-math/LICENSE",
}

# The mean advance, in em, of a letter of running text (FREQUENCY) in Times New Roman and in Arial
# (and so in Liberation and Helvetica, which share their widths).
FREQUENCY = "eeeeeeeeeeee ttttttttt aaaaaaaa ooooooo iiiiiii nnnnnnn ssssss hhhhhh rrrrrr dddd llll ccc uuu mm ww ff gg yy pp b v k , .       "
FALLBACKS = {
    "Source Serif": ("Times New Roman", "Liberation Serif", "Tinos", "Nimbus Roman"),
    "Inter": ("Arial", "Liberation Sans", "Arimo", "Helvetica"),
}
FALLBACK_ADVANCE = {"Source Serif": 0.3858, "Inter": 0.4257}


def main() -> None:
    modules = Path(sys.argv[1])
    fonts = STATIC / "fonts"
    shutil.rmtree(fonts, ignore_errors=True)
    fonts.mkdir(parents=True)
    rules = [
        "/* Written by scripts/subset_fonts.py. The fonts are under the SIL Open Font License. */"
    ]
    for face in FACES:
        path = fonts / f"{face.file}.woff2"
        font = cut(TTFont(modules / face.source, recalcTimestamp=False), face)
        font.flavor = "woff2"
        font.save(path)
        rules.append(rule(face))
        print(f"{path.name}: {path.stat().st_size:,} bytes")
    for face in (FACES[0], FACES[4]):
        rules.append(fallback(TTFont(modules / face.source), face))
    for name, licence in LICENCES.items():
        shutil.copy(modules / licence, fonts / f"{name}.LICENSE.txt")
    (STATIC / "css" / "fonts.css").write_text("\n".join(rules) + "\n")


def cut(font: TTFont, face: Face) -> TTFont:
    """The font with only the characters of `face`, and only its weights."""
    options = subset.Options(flavor="woff2", notdef_outline=True, hinting=False)
    options.layout_features = ["kern", "liga", "locl", "ccmp", "mark", "tnum", "calt"]
    if face.family == "JetBrains Mono":
        options.layout_features = ["locl", "ccmp"]  # no ligatures: <= is two characters in code
    if face.family == "Inter":
        options.layout_features = ["kern", "locl", "ccmp", "mark", "tnum"]
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=characters(face.ranges))
    subsetter.subset(font)
    if not face.weights:
        return font
    limits: dict[str, float | tuple[int, int]] = {"wght": face.weights}
    if any(axis.axisTag == "opsz" for axis in font["fvar"].axes):
        limits["opsz"] = 14
    return instancer.instantiateVariableFont(font, limits)


def characters(ranges: str) -> list[int]:
    found: list[int] = []
    for part in ranges.split(", "):
        low, _, high = part.removeprefix("U+").partition("-")
        found.extend(range(int(low, 16), int(high or low, 16) + 1))
    return found


def rule(face: Face) -> str:
    weights = "{} {}".format(*face.weights) if face.weights else "400"
    style = " font-style: italic;" if face.italic else ""
    ranges = f" unicode-range: {face.ranges};" if face.ranged else ""
    return (
        f'@font-face {{ font-family: "{face.family}"; src: url("../fonts/{face.file}.woff2") '
        f'format("woff2"); font-weight: {weights};{style} font-display: {face.display};{ranges} }}'
    )


def fallback(font: TTFont, face: Face) -> str:
    """A face over the machine's own fonts, stretched to the metrics of `face`."""
    em, glyphs, widths = font["head"].unitsPerEm, font.getBestCmap(), font["hmtx"]
    advance = sum(widths[glyphs[ord(letter)]][0] for letter in FREQUENCY) / len(FREQUENCY) / em
    size = advance / FALLBACK_ADVANCE[face.family]
    ascent, descent = font["hhea"].ascent / em / size, -font["hhea"].descent / em / size
    metrics = (
        f"size-adjust: {size:.2%}; ascent-override: {ascent:.2%}; "
        f"descent-override: {descent:.2%}; line-gap-override: 0%;"
    )
    styles = (("", "font-weight: 400;"), (" Bold", "font-weight: 600;"))
    return "\n".join(
        f'@font-face {{ font-family: "{face.family} fallback"; '
        f"src: {local(face.family, style)}; {weight} {metrics} }}"
        for style, weight in styles
    )


def local(family: str, style: str) -> str:
    return ", ".join(f'local("{name}{style}")' for name in FALLBACKS[family])


if __name__ == "__main__":
    main()
