"""What the lessons ask for before the cell that answers. `minitorch_compile.course.predict` judges the guesses.

Each row has the answer, a thought for a first miss that doesn't tell it, why it is so, and where the next cell shows
it.
"""

from __future__ import annotations

import re

from minitorch_compile.course.predict import Prediction


def number(pattern: str, text: str) -> int:
    """The last whole number that the pattern finds."""
    return int(re.findall(pattern, text, re.MULTILINE)[-1])


def sectors(text: str, kernel: str) -> int:
    """What the last table with this kernel has in its column of sectors, the second."""
    return int(re.findall(rf"^{kernel} +[\d,]+ +([\d,]+)", text, re.MULTILINE)[-1].replace(",", ""))


PREDICTIONS = (
    Prediction(
        "03.calls",
        8,
        "Draw the tree: each call with n of 2 or more makes two further ones.",
        "Two for n = 4, then two for each of 3, 2 and 2: the call that we make ourselves is not in the list.",
        lambda text: text.count("fibonacci("),
    ),
    Prediction(
        "03.done",
        3,
        "In how many ways can the block be left? Follow the `return`, the handler, and an error nobody handles.",
        "A copy for each way out: the division went well, it was caught, or something else went wrong.",
        lambda text: text.count("'done'"),
    ),
    Prediction(
        "04.powers",
        3,
        "For which n is the condition true? It is decided while tracing.",
        "For 1, 3 and 5. The loop and the condition have run, and only what depends on x is written down.",
        lambda text: text.splitlines()[0].count("**"),
    ),
    Prediction(
        "05.verbose",
        0,
        "What does the function find out about it?",
        "It is passed and never looked at.",
        lambda text: number(r"guards on verbose: (\d+)", text),
    ),
    Prediction(
        "05.versions",
        8,
        "Would all of them be kept? Look for a number in the class `Compiled`.",
        "Each call needs one of its own, until the limit ends it.",
        lambda text: number(r"^(\d+) versions", text),
    ),
    Prediction(
        "06.breaks",
        3,
        "Go through it line by line. Which needs a number, which acts on the world, which asks a question?",
        "`.item()`, `print` and the `if`. Multiplying, taking the sine and the sum need no number.",
        lambda text: text.count("break in"),
    ),
    Prediction(
        "06.graphs",
        4,
        "Two functions are compiled, for the inner one breaks, too. Into how many pieces is each cut?",
        "Two of each: before and after the call, before and after the `print`.",
        lambda text: number(r"(\d+) graphs", text),
    ),
    Prediction(
        "07.watched",
        3,
        "Which of the two calls of `sorted` finds the stand-in?",
        "One call for each tensor, in the first `sorted` only: the second has the function itself.",
        lambda text: text.count("'size'"),
    ),
    Prediction(
        "07.frames",
        81,
        "How many different questions are there? A question that was answered is not evaluated again.",
        "One for each n from 0 to 80.",
        lambda text: number(r"from (\d+) frames", text),
    ),
    Prediction(
        "08.visits",
        63,
        "Each addition passes two slopes on, and each of them walks all the rest of the way.",
        "One visit at the result, then 2, 4, 8, 16 and 32.",
        lambda text: number(r"^5 additions: +(\d+) visits", text),
    ),
    Prediction(
        "09.hidden",
        0,
        "Which of the three branches of `__setattr__` does the list take?",
        "A list is neither a parameter nor a module, so nobody looks inside.",
        lambda text: text.count("("),
    ),
    Prediction(
        "09.kernels",
        1,
        "Does any number of the result depend on more than one position of the arguments?",
        "All is element by element over arrays of one size, so it is one loop.",
        lambda text: number(r"^(\d+) kernels?", text),
    ),
    Prediction(
        "10.pairs",
        3,
        "How many operations does one pair take? What do two batches change about that?",
        "As many as for a single pair: each has become one on all twelve.",
        lambda text: len(re.findall(r"'\w+'", text)),
    ),
    Prediction(
        "10.hessians",
        (10, 3, 3),
        "What are the sizes of one Hessian of three numbers? Where does vmap put the batch?",
        "A matrix of 3 by 3 for each of the ten points, the batch in front.",
        lambda text: tuple(map(int, re.findall(r"\d+", re.findall(r"Size\((.*)\)", text)[-1]))),
    ),
    Prediction(
        "11.flow",
        4,
        "No more than 5 can leave the source or reach the sink. But follow what arrives at a.",
        "a is given 3 and can pass on 2, and b has 2 of its own.",
        lambda text: number(r"^\((\d+),", text),
    ),
    Prediction(
        "12.softmax",
        7,
        "A maximum, a difference, an exponential, a sum, a quotient. And what makes the sizes fit?",
        "The five, and a `broadcast` for each of the two columns.",
        lambda text: len(text.splitlines()),
    ),
    Prediction(
        "12.zero",
        2,
        "There is a number for which x + 0 is not x to the last bit. In which program does it show?",
        "-0.0 + 0 is 0.0, and only a division tells the two zeros apart.",
        lambda text: 1 + [line == "nothing found" for line in text.splitlines()].index(False),
    ),
    Prediction(
        "13.loads",
        4096,
        "How often is the first one read by the second, and by the third?",
        "It doubles at each step: 2 to the 12.",
        lambda text: number(r"depth 12: .*'load': (\d+)", text),
    ),
    Prediction(
        "14.axes",
        (3, 2, 4),
        "The first turns after 4 and after 24 steps, the second after 8 and after 24. Where does either of them turn?",
        "They turn after 4, 8 and 24 steps: so 4, then 2 times as many, then 3 times.",
        lambda text: tuple(map(int, re.findall(r"\d+", re.findall(r"\(.*?\)", text)[1]))),
    ),
    Prediction(
        "14.kernels",
        2,
        "When does the first column have its mean? When is the softmax of the last row done?",
        "A mean of a column needs the last row, so what uses it is a walk of its own.",
        lambda text: number(r"^(\d+) kernels", text),
    ),
    Prediction(
        "15.flags",
        "fast",
        "Which of them promises that there will be no NaN?",
        "It is the whole bundle, with `nnan` in it, so x != x is known to be false.",
        lambda text: str(re.findall(r"\['(\w+)'\] +False", text)[-1]),
    ),
    Prediction(
        "16.epilogue",
        "second",
        "Which of them can work on some rows of the product before the others exist?",
        "A gelu needs one number at a time; a sum down the columns needs the last row.",
        lambda text: "second" if text.rpartition("only a block is ever there")[0].count("kernel 2") else "first",
    ),
    Prediction(
        "17.kernels",
        1,
        "Does anybody need the scores afterwards?",
        "The scores never lie in memory, so nothing stands between the two products.",
        lambda text: number(r"^(\d+) kernels?", text),
    ),
    Prediction(
        "17.tuned",
        "remembered",
        "What is the file for?",
        "The key is the same, so the choice is read from the file.",
        lambda text: text.split()[-1],
    ),
    Prediction(
        "18.steps",
        3,
        "Each product begins a step. What follows row by row becomes its epilogue. And what needs all of the rows?",
        "Two products, each with all that follows it row by row, and the mean of the loss, which waits for all rows.",
        lambda text: number(r"^MLP +\d+ +\d+ +\d+ +(\d+)", text),
    ),
    Prediction(
        "19.sectors",
        8,
        "How far apart are the numbers that neighbouring threads of `pieces` load at one step? How long is a sector?",
        "Each of its loads is answered in a sector of eight floats, of which one was asked for.",
        lambda text: sectors(text, "pieces") // sectors(text, "neighbours"),
    ),
)
