"""The tokens of the corpus: 256 bytes, and one for the beginning of a text."""

BOS = 256
TOKENS = 257
