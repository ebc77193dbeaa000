# Two commands do everything on a fresh Debian machine: make demo, make test.

.PHONY: all demo test test-long studies book bench bench-compare viewer-test playground wasm python wheel deb dist docs format clean deps fuzz

all: deps
	@cmake --preset release > build.log 2>&1 || { cat build.log; rm -f build.log; exit 1; }
	@rm -f build.log
	@cmake --build --preset release

# Simulates a scene through impacts and their accumulation, and draws it.
demo: all
	@tools/demo

# What every change has to pass: gcc and clang with sanitizers, format, lint, layers, documents.
test: deps
	@tools/test

# The rest: big loops, oracles, studies, mutations, fuzzing, static analyser. About an hour.
test-long: deps
	@tools/test-long

# Every study; fails when a claim does not hold.
studies: all
	@tools/studies

# Every benchmark with its accepted number, as pages in build/book; fails when one does not hold.
book: all
	@python3 tools/book.py

bench: all
	@build/bench/saltus-bench

# Whether small systems became slower than at an older commit: make bench-compare COMMIT=af0a0a3
bench-compare: deps
	@tools/bench-compare $(COMMIT)

# Readers with hostile input under sanitizers: make fuzz KIND=snapshots|recordings|texts|robots|guided FROM=0 TO=1000000
fuzz: deps
	@KIND="$(KIND)" FROM="$(FROM)" TO="$(TO)" tools/fuzz

# Reports of all scenes in a real browser; installs Chromium when it is missing (0.3 GB).
viewer-test: all
	@tools/viewer-test --install all

# One page with the core as WebAssembly: build/playground/playground.html; installs emscripten when it is missing (0.5 GB).
playground: all
	@tools/playground

# The core for browsers and node; installs emscripten when it is missing (0.5 GB).
wasm: deps
	@tools/wasm --install

# The Python package: build/python/bin/python imports saltus, and its tests run there. Builds what these need.
python: deps
	@cmake --preset release > build.log 2>&1 || { cat build.log; rm -f build.log; exit 1; }
	@rm -f build.log
	@cmake --build --preset release --target lib/libsaltus.so saltus_python saltus_cli saltus_fmu_binary
	@tools/install-packages python
	@tools/python

# A wheel for other machines, libraries inside: build/wheel; tried in a clean root of Debian where root may make one.
wheel: all
	@tools/install-packages packages
	@tools/wheel --try

# Debian packages libsaltus0.9, libsaltus-dev, saltus, python3-saltus: build/deb; tried in a clean root likewise.
deb: all
	@tools/install-packages packages
	@tools/deb --try

# The release archive of the last commit: build/dist; tools/dist --try builds and tests it in a folder without git.
dist:
	@tools/dist

# One site of all documents, with formulas, search and figures: build/docs/index.html. Installs pandoc when it is missing.
docs: all
	@tools/docs

format:
	@tools/files '*.c' '*.h' | xargs clang-format -i

deps:
	@tools/install-packages

clean:
	rm -rf build results
