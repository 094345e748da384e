"""What a process that compiles for another one does all the time: it reads a request, and answers it.

Both are lines of JSON, over pipes.

>>> import io
>>> answers = io.StringIO()
>>> serve(io.StringIO("[1, 2]\\n[3]\\n"), answers, "compiles for AVX2", sum)
>>> answers.getvalue().splitlines()
['"compiles for AVX2"', '3', '3']
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from typing import Any, TextIO

IDLE = 60.0  # seconds without a request after which the process ends; the next large graph starts another


def serve(requests: TextIO, answers: TextIO, environment: Any, answer: Callable[[Any], Any]) -> None:
    """Answers until the input ends, or for a minute nothing is asked. The first line says what this process compiles
    for."""
    print(json.dumps(environment), file=answers, flush=True)
    while True:
        patience = threading.Timer(IDLE, os._exit, [0])
        patience.daemon = True
        patience.start()
        line = requests.readline()
        patience.cancel()
        if not line:
            return
        print(json.dumps(answer(json.loads(line))), file=answers, flush=True)


def serve_over_pipes(environment: Any, answer: Callable[[Any], Any]) -> None:
    """From standard input to standard output."""
    answers, sys.stdout = sys.stdout, sys.stderr  # nothing else may write between the answers
    serve(sys.stdin, answers, environment, answer)
