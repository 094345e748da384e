# Every target sets up what it needs first: `make lab` on a fresh machine is the whole installation.
# Paths stay relative, so a checkout may lie in a folder with spaces in its name.

PYTHON ?= python3
PY := .venv/bin/python
GRAPHS ?= --count 20000 --kernels python
COMPILED_GRAPHS ?= --count 600 --seed 100000
DEVICE_GRAPHS ?= --count 1000
.DEFAULT_GOAL := help
.PHONY: help setup lab work tour test test-all coverage lint bench bench-peers fuzz processors partitions grade watch class progress mini-test site site-check browser viewer-check course course-check rerun lock test-pythons clean distclean

help:  ## this list
	@echo "minitorch_compile: rebuild the PyTorch 2 compile stack, one readable floor at a time"
	@echo
	@sed -n 's/^\([a-z-]*\):.*##  *\(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{printf "%-20s %s\n", $$1, $$2}'

setup:  ## make .venv ready (each target does it by itself; a second run does no work)
	@$(PYTHON) tools/set_up.py

lab: setup  ## open lesson 00 in JupyterLab; your copies of the exercises lie in work/
	@$(PY) tools/start_lab.py

work: setup  ## your copies of the exercises in work/, without a browser
	@$(PY) tools/hand_out.py

tour: setup  ## run lesson 00 without a browser: build/tour.html and its table here
	@$(PY) tools/tour.py

grade: setup  ## grade your exercises in work/
	@$(PY) -m minitorch_compile.course grade

watch: setup  ## check each notebook in work/ when you save it
	@$(PY) -m minitorch_compile.course watch

class: setup  ## grade a class: CLASS=folder with a folder for each learner (ROSTER=roster.csv, OUT=build/class); the same command goes on after a kill
	@$(PY) -m minitorch_compile.course class "$(CLASS)" $(if $(ROSTER),--roster "$(ROSTER)") $(if $(OUT),--out "$(OUT)")

progress: setup  ## every exercise of yours: done, begun, to do
	@$(PY) -m minitorch_compile.course progress

mini-test: setup  ## your own package in work/mini: how much of it is written, and the tests of the files that are whole
	@$(PY) tools/mini_test.py

test: setup  ## what to run before and after a change: lint, notebooks up to date, one batch of each family of tests (FLOOR=aot: of one floor; CHANGED=1: what your changes reach)
	@$(PY) tools/check.py --floor "$(FLOOR)" --changed "$(CHANGED)"

test-all: setup  ## every test, and a batch of the kernels' for other processors: what CI runs after `make test`
	@test -n "$(FLOOR)" || $(PY) tools/kernel_floors.py --one-batch
	@$(PY) tools/check.py --all --floor "$(FLOOR)"

coverage: setup  ## every test, and the lines that no test reaches (FLOOR=aot: of one floor)
	@$(PY) tools/check.py --coverage --floor "$(FLOOR)"

lint: setup  ## only the quick checks: ruff, mypy, the floors
	@$(PY) tools/check.py --only lint

bench: setup  ## measure: call overhead, eager against compiled, kernels, transforms
	@$(PY) -m benchmarks
	@$(PY) -m benchmarks.dispatch
	@$(PY) -m benchmarks.frame_hook
	@$(PY) -m benchmarks.eager
	@$(PY) -m benchmarks.kernels
	@$(PY) -m benchmarks.transforms
	@$(PY) -m benchmarks.single_ops

bench-peers: setup  ## beside torch.compile: TORCH_PYTHON=/path/to/python make bench-peers PEERS="--only softmax" (--device cuda, --avx2, --compare OLD.json NEW.json)
	@$(PY) -m benchmarks.peers $(PEERS)

partitions: setup  ## both partitioners on all models: equal gradients, and what each saves (MODELS="gpt vit")
	@$(PY) -m tests.aot.partitions $(MODELS)

fuzz: setup  ## random Python in a changing world, compiled against plain (PROGRAMS="--count 5000"), and in one that stays (STILL=); random tensor programs (FUZZ=, GRAPHS="--count 20000 --seed 7 --kernels python", and with compiled kernels COMPILED_GRAPHS="--count 600", for a GPU DEVICE_GRAPHS="--count 5000"); writes to views (ALIASING="--count 5000 --seed 7 --shrink"); damaged files (FILES="--count 200000 --seed 7")
	@$(PY) -m tests.dynamo.fuzz $(PROGRAMS)
	@$(PY) -m tests.dynamo.fuzz --unchanging --count 3000 $(STILL)
	@$(PY) -m tests.pipeline.fuzz $(FUZZ)
	@$(PY) -m tests.inductor.sweep $(SWEEP)
	@$(PY) -m tests.inductor.fuzz $(GRAPHS)
	@$(PY) -m tests.inductor.fuzz $(COMPILED_GRAPHS)
	@$(PY) -m tests.inductor.fuzz --device cuda $(DEVICE_GRAPHS)
	@$(PY) -m tests.inductor.fuzz --device cuda $(DEVICE_GRAPHS) --mode reduce-overhead
	@$(PY) -m tests.aot.aliasing $(ALIASING)
	@$(PY) -m tests.func.random_compositions $(TRANSFORMS)
	@$(PY) -m tests.serialization.fuzz $(FILES)

processors: setup  ## the tests of kernels as other processors run them (AVX2, SSE2); for AVX-512 and NEON all kernels are assembled
	@$(PY) tools/kernel_floors.py

course: setup  ## build notebooks/, exercises/ and solutions/ from authoring/
	@$(PY) tools/build_course.py

course-check: setup  ## run all lessons, all solutions and mini after each lesson under Python 3.11, 3.12 and 3.13 (LESSONS="05 18", PYTHONS=3.12)
	@$(PY) tools/course_check.py $(LESSONS) $(if $(PYTHONS),--pythons $(PYTHONS))

rerun: setup  ## run each lesson's cells three times in one kernel, once in a random order (LESSONS="05 18")
	@$(PY) tools/rerun_cells.py $(LESSONS)

site: setup  ## the whole course as a site in build/site/html, which needs no network: lessons, search, index, reference; all on one page, and as a PDF
	@$(PY) tools/web/build.py

site-check: setup  ## the site and the viewer's page in a headless Chromium: axe's serious findings, requests to other hosts, dead links
	@$(PY) tools/web/check_pages.py

browser: setup  ## lesson 00 in a headless Chromium: opened without running, wide and narrow, light and dark; run; an exercise, wrongly and rightly by clicks; pictures in build/ (LESSONS="05 18", LESSONS=all)
	@$(PY) tools/opened_check.py $(LESSONS)
	@$(PY) tools/browser_check.py $(LESSONS)
	@$(PY) tools/exercise_check.py

viewer-check: setup  ## drive the page of inspect(...).save() with real clicks in a headless Chromium, on a CNN and a GPT
	@$(PY) tools/viewer_check.py

test-pythons: setup  ## the tests under every Python from 3.11 to 3.14 found here
	@$(PY) tools/all_pythons.py

lock: setup  ## write requirements.lock anew from pyproject.toml (wants uv)
	@$(PY) tools/lock.py

clean:  ## remove what was built; .venv and your work/ stay
	@rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage htmlcov
	@find . -path ./.venv -prune -o -path ./work -prune -o -name __pycache__ -type d -print | while IFS= read -r folder; do rm -rf "$$folder"; done

distclean: clean  ## clean, and remove .venv too; your work/ stays
	@rm -rf .venv
