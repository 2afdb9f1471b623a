"""ANDREA's engine: a language model trained by hand-written forward and backward kernels."""
