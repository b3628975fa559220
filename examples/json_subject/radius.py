"""Hoeffding's interval as a program: one JSON line in, one JSON line out; whp is not imported."""

import json
import math
import sys


def main() -> None:
    """Answer call after call until the input ends."""
    for line in sys.stdin:
        n, delta = json.loads(line)["call"]
        good = n >= 1 and 0 < delta < 1
        answer = {"value": math.sqrt(math.log(1 / delta) / (2 * n))} if good else {"error": "n >= 1 and 0 < delta < 1"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
