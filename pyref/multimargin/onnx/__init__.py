"""Fitted models as ONNX files, which other languages and runtimes serve."""

from multimargin.onnx.exporting import export

__all__ = ["export"]
