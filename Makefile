# Compiled modules are kept, whatever the environment says: the suite starts a hundred processes that import mbfmu.
unexport PYTHONDONTWRITEBYTECODE

# Set-up is part of every target: .venv is made where there is none, and renewed when pyproject.toml, the runtime's
# sources or the list of files change.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
PEERS := .venv/.peers
ZIG := .venv/.zig

# What the runtime's library is compiled from: set-up compiles it.
RUNTIME := mbfmu/runtime/contract.py $(wildcard templates/runtime/*.[ch])

# Which files there are, but for those that set-up makes: it links each of them.
FILES := .venv/.files


# What npm bundles the animation page from, where npm is: set-up does.
VIEWER := templates/scene/package.json $(wildcard templates/scene/*.js)

# What editors complete constructors of components from (distribution/stubs.py), renewed when components change.
STUBS := .venv/.stubs

.PHONY: demo test core quick campaigns mutants uncovered versions lint docs fmus gallery screens live sizes bench validation page wheel first-minutes sbom compatibility \
	clean always compile_commands.json

demo: $(ZIG)
	$(BIN)/mbfmu demo

# Each worker takes neighbours, which share what a module has made, and in the end what others have left.
PYTEST := $(BIN)/pytest -n auto --maxprocesses 4 --dist worksteal

test: $(STUBS)
	$(PYTEST)

# Orientations, models, components, equations and the runtime that solves them: what most changes touch.
core: $(STUBS)
	$(PYTEST) tests/frames tests/modeling tests/components tests/dynamics tests/runtime

# All but tests marked slow. It says how many it left out.
quick: $(STUBS)
	$(PYTEST) -m "not slow"

# What the suite leaves to it: the dearest cases of tests that run others of their kind, with samples as small as there.
campaigns: $(STUBS)
	$(PYTEST) --all-cases -m left_out

# Breaks a random sample of lines in clones, one at a time, and tells which no test notices; takes hours.
mutants: $(STUBS)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[mutants]'
	$(BIN)/python tests/mutants.py $(SAMPLE)

# Prints the lines of Python and of the C runtime that no test comes by; takes Clang, and as long as the suite, and more.
uncovered: $(STUBS)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[mutants]'
	@$(BIN)/python tests/uncovered.py $(TESTS)

# The suite in a clone, on $(PYTHON): with the newest dependencies; with OLDEST=1, the oldest that pyproject.toml allows,
# which warn of what newer ones beneath them have deprecated.
versions:
	@rm -rf build/versions && git clone --quiet . build/versions
ifdef OLDEST
	@cd build/versions && $(PYTHON) -m venv .venv && $(PYTHON) -m distribution.oldest > .venv/oldest.txt
	@cd build/versions && .venv/bin/python -m pip install --quiet --disable-pip-version-check -c .venv/oldest.txt -e '.[test]'
endif
	@$(MAKE) -C build/versions test PYTHON=$(PYTHON) $(if $(OLDEST),PYTEST_ADDOPTS='-W default')

lint: $(STUBS) build/typing
	$(BIN)/ruff check .
	cd build/typing && ../../$(BIN)/mypy --config-file ../../pyproject.toml -p mbfmu -p problems -p benchmarks
	$(BIN)/codespell

# The site, in build/site, with the live pages: warnings are errors; nothing is fetched from a network.
docs: live
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

fmus: $(READY)
	$(BIN)/python -m mbfmu.fmus

# Pictures of the gallery and of the README, and docs/gallery.md; needs Chromium and its driver.
gallery: $(READY)
	$(BIN)/python -m mbfmu.fmus.pictures

# How pages look, in wide and narrow windows, light and dark: in build/screens, to look at. SOURCES="arm.urdf" for others.
screens: $(ZIG)
	$(BIN)/python -m mbfmu.fmus.screens build/screens $(SOURCES)

# Live pages of some of the gallery, for the docs; sizes of all pages of the gallery, with the libraries that are there.
live: $(ZIG)
	$(BIN)/python -m mbfmu.fmus.live_pages build/live

sizes: $(ZIG)
	$(BIN)/python -m mbfmu.fmus.live_pages build/sizes --all

bench: $(PEERS)
	$(BIN)/python -m benchmarks

# Published problems, solved: build/validation/problems.json, .html, .pdf; some of them with IDS="andrews-beta ...".
validation: $(READY)
	$(BIN)/python -m problems $(IDS)

# The program of animation pages, by hand.
page: $(READY)
	$(BIN)/python -m mbfmu.scene.bundle

# How each C file is compiled, for clangd and other tools; what is made from the contract goes to build/c.
compile_commands.json: $(READY)
	$(BIN)/python -m distribution.compile_commands

# With the runtime's libraries for all platforms, which ziglang compiles; pip fetches that for the time of the build.
wheel: $(READY)
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --config-settings platforms=all --wheel-dir dist .

# What a newcomer sees: commands in a terminal (tmux) with the wheel alone, its pages in Chromium; in build/first-minutes.
first-minutes: wheel
	$(BIN)/python -m distribution.first_minutes "$$(ls -t dist/*.whl | head -1)" build/first-minutes

# What is in the wheel and what it needs, as CycloneDX, in dist/: of an environment that has it and nothing else.
sbom: wheel
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[sbom]'
	@rm -rf build/sbom && $(PYTHON) -m venv build/sbom
	@build/sbom/bin/python -m pip install --quiet --disable-pip-version-check "$$(ls -t dist/*.whl | head -1)"
	$(BIN)/python -m distribution.sbom "$$(ls -t dist/*.whl | head -1)" build/sbom/bin/python dist/mbfmu.cdx.json

# What fmi-standard.org asks tools for: FMUs with their results, and the hosts that ran them, in build/compatibility.
compatibility: $(ZIG)
	$(BIN)/python tests/hosts/compatibility.py build/compatibility

clean:
	rm -rf .venv build compile_commands.json demo dist *.egg-info .mypy_cache .pytest_cache .ruff_cache mbfmu/runtime/libraries mbfmu/scene/page fmus/*.fmu fmus/*/*.fmu

$(FILES): always
	@mkdir -p $(@D)
	@find mbfmu components fmus templates -type f ! -path '*/__pycache__/*' ! -path '*/libraries/*' ! -path 'mbfmu/scene/page/*' \
		! -name '*.fmu' | sort > $@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

$(READY): pyproject.toml $(wildcard distribution/*.py) $(RUNTIME) $(VIEWER) $(FILES)
	@echo "Setting up .venv with mbfmu and what it needs; this takes a minute"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@

$(STUBS): $(READY) $(shell find components -name '*.py')
	@$(BIN)/python -m distribution.stubs "$$(ls -dt build/__editable__* | head -1)"
	@touch $@

$(PEERS): $(READY)
	@echo "Installing the peers of the benchmarks"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	@touch $@

# What compiles the runtime for browsers and other platforms.
$(ZIG): $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check ziglang
	@touch $@

# Type checkers do not know package-dir: links show them the four folders as the one package that they install as, and
# beside it what is not installed.
.PHONY: build/typing
build/typing:
	@rm -rf $@ && mkdir -p $@/mbfmu
	@ln -s $(CURDIR)/mbfmu/* $(CURDIR)/components $(CURDIR)/fmus $(CURDIR)/templates $@/mbfmu/
	@ln -s $(CURDIR)/problems $(CURDIR)/benchmarks $@/
