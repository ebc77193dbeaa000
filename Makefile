# Two commands do everything on a fresh Debian machine: make demo, make test.

.PHONY: all demo test studies bench format clean deps fuzz

all: deps
	@cmake --preset release > build.log 2>&1 || { cat build.log; rm -f build.log; exit 1; }
	@rm -f build.log
	@cmake --build --preset release

# Simulates a scene through impacts and their accumulation, and draws it.
demo: all
	@tools/demo

# Everything: gcc and clang, sanitizers, format, lint, layers, sizes, documents.
test: deps
	@tools/test

# Every study; fails when a claim does not hold.
studies: all
	@tools/studies

bench: all
	@build/bench/saltus-bench

# Attacks the readers of scenes and formulas; FUZZ_SECONDS each, default 600.
fuzz: deps
	@tools/fuzz

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

deps:
	@tools/install-packages

clean:
	rm -rf build results
