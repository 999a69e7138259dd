# tensor.h - `make` says what there is. Nothing here needs more than a C compiler, make and a shell.
CC ?= cc
AR ?= ar
NM ?= nm
CFLAGS ?= -O2 -g
PREFIX ?= /usr/local
DESTDIR ?=
TORCH ?= python3
BENCH ?= calls fashion
BUILD ?= build
WARNINGS = -Wall -Wextra -pedantic -Wshadow -Wconversion
LIBS = -lm -pthread
VERSION := $(shell sed -n 's/^\#define TN_VERSION "\(.*\)"/\1/p' src/api/config.h)

SOURCES := $(filter-out src/py/%,$(wildcard src/*/*.c)) # src/py needs Python: make python
OBJECTS := $(SOURCES:src/%.c=$(BUILD)/%.o)
UNIT := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/*.c))
LANES := $(patsubst tests/%/run.sh,%,$(wildcard tests/*/run.sh))
LONG := ops analyze python compile threads unit kinds
LANES := $(filter $(LANES),$(LONG)) $(filter-out $(LONG),$(LANES)) # the longest are begun first
TEXTS := $(shell find src tools tests examples bench -name '*.[ch]' -o -name '*.inl' | sort)
SHARED := src/call/schema.c src/nn/parts.c # parsers that the generator shares with the library
OPTABLE := $(BUILD)/tools/optable
AMALGAMATE := $(BUILD)/tools/amalgamate
CHECK := $(BUILD)/tools/check
JOBS := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
TEST = CC="$(CC)" CFLAGS="$(CFLAGS)" BUILD="$(BUILD)" sh tests/run.sh

.PHONY: help headers check-headers objects built unit test test-quick test-all test-faults run bench data install dist clean python python-extension stubs test-python-torch test-array-api \
        $(LANES:%=test-%)
.DELETE_ON_ERROR:

help:
	@echo "make run            learn pictures and show it (examples/fashion)"
	@echo "make test           a sample of every lane; test-quick: those of four minutes; one lane:"
	@echo "                   $(LANES:%= test-%)"
	@echo "make test-all       every lane in full, and docs/promises.md from what they found (hours)"
	@echo "make test-faults    seeded faults: which tests notice them (tests/faults)"
	@echo "make objects        src/ as separate objects into $(BUILD)/libtensor.a: how one develops"
	@echo "make headers        tensor.h and tensor_nn.h from src/"
	@echo "make check-headers  are they current; do includes, symbols, sizes follow the rules"
	@echo "make python         the Python package in place, tensorh/ (PYTHON=); stubs: its .pyi files"
	@echo "make test-python-torch  beside PyPI's torch, which it installs (TORCH_PYTHON= has it)"
	@echo "make test-array-api the array API standard's own suite, which it gets by git (EXAMPLES=100)"
	@echo "make bench          beside torch: TORCH=python that has it; BENCH='calls fashion kernels import python'"
	@echo "make data           fetch the Fashion-MNIST pictures, where the system has them"
	@echo "make install        headers and pkg-config file below $(PREFIX) (PREFIX=, DESTDIR=)"
	@echo "make dist           $(BUILD)/tensor-$(VERSION).tar.gz"
	@echo "make clean          removes $(BUILD)/"

# --- tools and what they write ------------------------------------------------------------------
TOOL_FLAGS = -std=c99 -O1 $(WARNINGS)

$(AMALGAMATE): tools/amalgamate.c | $(BUILD)/tools
	$(CC) $(TOOL_FLAGS) $< -o $@
$(CHECK): tools/check.c | $(BUILD)/tools
	$(CC) $(TOOL_FLAGS) $< -o $@
$(OPTABLE): $(wildcard tools/optable/*.[ch]) $(SHARED) $(SHARED:.c=.h) | $(BUILD)/tools
	$(CC) $(TOOL_FLAGS) -DTNI_OBJECTS $(filter %.c,$^) -o $@ -lm
$(BUILD)/tools $(BUILD)/unit:
	mkdir -p $@

# Everything that follows from the rows, rewritten only where it changes.
$(BUILD)/generated: $(OPTABLE) $(wildcard src/ops/*.c src/nn/*.c src/optim/*.c)
	$(OPTABLE)
	@touch $@

headers: $(BUILD)/generated $(AMALGAMATE)
	$(AMALGAMATE) src/tensor.c tensor.h
	$(AMALGAMATE) --on src/tensor.c src/tensor_nn.c tensor_nn.h
	$(AMALGAMATE) --on src/tensor_nn.c src/tensor_py.c tensor_py.c

check-headers: $(OPTABLE) $(AMALGAMATE) $(CHECK)
	@$(OPTABLE) --check || { echo "run 'make headers' and commit what it writes"; exit 1; }
	@$(AMALGAMATE) --check src/tensor.c tensor.h
	@$(AMALGAMATE) --check --on src/tensor.c src/tensor_nn.c tensor_nn.h
	@$(AMALGAMATE) --check --on src/tensor_nn.c src/tensor_py.c tensor_py.c
	@$(CHECK) files $(TEXTS)
	@$(MAKE) -s -j$(JOBS) objects
	@$(NM) -A $(OBJECTS) > $(BUILD)/symbols && $(CHECK) symbols $(BUILD)/symbols
	@for c in "clang -std=c99" "clang++ -x c++ -std=c++11" "g++ -x c++ -std=c++11"; do \
	    ! command -v $${c%% *} > /dev/null || \
	    $$c $(WARNINGS) -Werror -I. -DWITH_NN -fsyntax-only tests/compile/implementation.c || exit 1; done
	@echo "headers are current, the rules hold"

# --- the development build ----------------------------------------------------------------------
OBJECT_FLAGS = -std=c99 $(CFLAGS) -DTNI_OBJECTS $(WARNINGS)

objects: $(BUILD)/libtensor.a
built: headers
	@$(MAKE) -s -j$(JOBS) objects

$(BUILD)/libtensor.a: $(OBJECTS)
	@rm -f $@
	$(AR) rcs $@ $^
$(BUILD)/%.o: src/%.c | $(BUILD)/generated
	@mkdir -p $(@D)
	$(CC) $(OBJECT_FLAGS) -MMD -MP -c $< -o $@
$(BUILD)/kernels/kernels.o: OBJECT_FLAGS += -O2

unit: $(UNIT)
$(BUILD)/unit/%: tests/unit/%.c $(BUILD)/libtensor.a | $(BUILD)/unit
	$(CC) $(OBJECT_FLAGS) -Isrc -Itests -MMD -MP $< $(BUILD)/libtensor.a -o $@ $(LIBS)

# The Python package in place, for development: PYTHONPATH=. python3 -c 'import tensorh'
PYTHON ?= python3
PIC = $(MAKE) -s -j$(JOBS) CFLAGS="$(CFLAGS) -fPIC -fvisibility=hidden" BUILD=$(BUILD)/pic
python:
	@$(PIC) objects
	@$(PIC) PYTHON="$(PYTHON)" PY_OUT="$(PY_OUT)" python-extension
stubs: python
	PYTHONPATH=. $(PYTHON) tools/python/stubs.py
PY_OUT ?= tensorh/_C.abi3.so
PY_INCLUDE = $(shell $(PYTHON) -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
python-extension: $(patsubst src/py/%.c,$(BUILD)/py/%.o,$(wildcard src/py/*.c)) $(BUILD)/libtensor.a
	$(CC) -shared -o $(PY_OUT) $^ $(LIBS)
$(BUILD)/py/%.o: src/py/%.c | $(BUILD)/generated
	@mkdir -p $(@D)
	$(CC) $(filter-out -pedantic,$(OBJECT_FLAGS)) -I$(PY_INCLUDE) -MMD -MP -c $< -o $@
-include $(wildcard $(BUILD)/py/*.d)

-include $(OBJECTS:.o=.d) $(UNIT:=.d)

$(BUILD)/packed.o: tests/packed.c tensor.h tensor_nn.h
	$(CC) -std=c99 $(CFLAGS) -I. -c $< -o $@

# --- tests: a lane is tests/<lane>/run.sh, whose last line is "N passed, N failed" ------------------
test: built
	@$(TEST) $(LANES)
test-quick: built
	@TN_QUICK=1 $(TEST) $(LANES)
test-all: built
	@TN_FULL=1 $(TEST) $(LANES); failed=$$?; \
	sh tests/promises.sh $(BUILD)/logs > docs/promises.md && exit $$failed
test-faults:
	@CC="$(CC)" BUILD="$(BUILD)" sh tests/faults/apply.sh $(FAULTS)
test-python-torch: headers
	@CC="$(CC)" BUILD="$(BUILD)" sh tests/python/torch.sh
test-array-api: python
	@BUILD="$(BUILD)" PYTHON="$(PYTHON)" sh tests/python/array_api.sh
$(LANES:%=test-%): test-%: built
	@$(TEST) $*

# --- use ----------------------------------------------------------------------------------------
run: $(BUILD)/fashion
	$(BUILD)/fashion $(ARGS)
$(BUILD)/fashion: $(wildcard examples/fashion/*) tensor.h tensor_nn.h
	@mkdir -p $(@D)
	$(CC) -std=c99 -O2 $(WARNINGS) -I. $(filter %.c,$^) -o $@ $(LIBS)
bench: headers
	CC="$(CC)" BUILD="$(abspath $(BUILD))" $(TORCH) bench/run.py $(BENCH)
data:
	sh examples/fashion/data.sh

install:
	install -d $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(PREFIX)/lib/pkgconfig
	install -m 644 tensor.h tensor_nn.h $(DESTDIR)$(PREFIX)/include
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' tensor.pc.in \
	    > $(DESTDIR)$(PREFIX)/lib/pkgconfig/tensor.pc

DIST = $(BUILD)/tensor-$(VERSION)
dist: check-headers
	rm -rf $(DIST) && mkdir -p $(DIST)
	cp -R $(wildcard tensor.h tensor_nn.h tensor_py.c tensorh pyproject.toml LICENSE README.md CMakeLists.txt tensor.pc.in Makefile \
	    src tools tests docs examples bench) $(DIST)
	rm -f $(DIST)/tensorh/*.so
	find $(DIST) -name __pycache__ -prune -exec rm -rf {} +
	tar -C $(BUILD) -czf $(DIST).tar.gz tensor-$(VERSION)

clean:
	rm -rf $(BUILD)
