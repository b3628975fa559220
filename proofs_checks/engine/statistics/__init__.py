"""Decision procedures for random claims and for measured rates.

=============== ================================================================================
module          decides
=============== ================================================================================
``event``       "with probability at least ``1 - delta``", from two integers
``mean``        ``E[X] <= m``, ``>= m`` or ``= m`` for ``X`` in a declared range, from a histogram
``rate``        a report on growth over geometric sizes (never a proof or a refutation)
``operating``   exact false-alarm rate, power and stopping time of the first two
``levels``      levels of checks and campaigns; the prefix rule that makes arrival order irrelevant
=============== ================================================================================

Evidence is made of integers throughout, so that merging shards is exactly associative and commutative.
"""
