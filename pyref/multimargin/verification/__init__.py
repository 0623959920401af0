"""Fits judged by the exact solution of the same problem: of one's own data, or of random problems.

``python -m multimargin.verification`` draws random problems over all methods (``make verify``).
"""

from multimargin.verification.agreement import Verification, draw_rows, verify

__all__ = ["Verification", "draw_rows", "verify"]
