# tensor.h - `make` lists the targets. The build needs a C compiler, make and a shell.
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

SOURCES := $(filter-out src/py/%,$(wildcard src/*/*.c src/*/*/*.c)) # src/py needs Python: make python
OBJECTS := $(SOURCES:src/%.c=$(BUILD)/src/%.o)
UNIT := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/*.c))
LANES := $(patsubst tests/%/run.sh,%,$(wildcard tests/*/run.sh))
LONG := python cuda_host ops compile trim analyze stranger life page threads nvcc hip random
LANES := $(filter $(LANES),$(LONG)) $(filter-out $(LONG),$(LANES)) # the longest start first
TEXTS := $(shell find src tools tests examples bench -name '*.[ch]' -o -name '*.inl' -o -name '*.cu' -o -name '*.cuh' -o -path '*cuda_host*.cc' | sort)
SHARED := src/call/schema.c src/nn/parts.c # parsers that the generator shares with the library
OPTABLE := $(BUILD)/tools/optable
AMALGAMATE := $(BUILD)/tools/amalgamate
CHECK := $(BUILD)/tools/check
JOBS := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
TEST = CC="$(CC)" CFLAGS="$(CFLAGS)" BUILD="$(BUILD)" sh tests/run.sh

.PHONY: FORCE checked help headers accuracy check-headers rules-hold picture check-subjects objects built unit test test-quick test-all test-row test-faults run page bench cuda data install dist clean python python-extension stubs test-python-torch test-array-api test-torch-samples test-upstream coverage \
        $(LANES:%=test-%)
.DELETE_ON_ERROR:

help:
	@echo "make run            learn pictures and show what was learned (examples/fashion)"
	@echo "make page           build $(BUILD)/page/index.html, which learns digits in a browser (emcc; examples/page)"
	@echo "make test           a sample of every lane; test-quick: a smaller one; one lane alone:"
	@echo "                   $(LANES:%= test-%)"
	@echo "make test-row ROW=erf   one row through every lane that takes rows (ROW=\"a b\": several)"
	@echo "make test-all       every lane in full (hours); writes docs/promises.md from what they found"
	@echo "make test-faults    seed known faults one at a time: which tests notice them (tests/faults)"
	@echo "make objects        compile src/ into $(BUILD)/libtensor.a: the build for development"
	@echo "make headers        write tensor.h, tensor_nn.h and all other generated files"
	@echo "make check-headers  check that generated files are current and src/ follows its rules"
	@echo "make check-subjects check that no commit subject has more than 72 characters"
	@echo "make python         build the Python package in place, in tensorh/ (PYTHON=python3.11)"
	@echo "make cuda           build $(BUILD)/libtensor_cuda.so, the CUDA devices of tn_device_load, by nvcc (CUDA_ARCHS=\"80 90 100\")"
	@echo "make stubs          write the package's .pyi files"
	@echo "make test-python-torch  compare losses with torch's (TORCH_PYTHON= has torch; else installs it)"
	@echo "make test-torch-samples  torch's own samples of every operator (TORCH_PYTHON= has torch; SAMPLES='--limit 0 add')"
	@echo "make test-upstream       PyTorch's own test files (TORCH_PYTHON= has torch; TORCH_SOURCE= its sources; UPSTREAM='test_torch -k pow')"
	@echo "make coverage       which names of torch the package has (TORCH_PYTHON= has torch; else from a list)"
	@echo "make test-array-api run the array API standard's suite, fetched by git (EXAMPLES=100)"
	@echo "make gpu            compile by nvcc what make test-gpu runs (CUDA_ARCH=sm_90)"
	@echo "make bench-gpu      measure on a GPU beside torch (PYTHON= has it; GPU_CASES='--only gpt --rounds 1'): bench/results/"
	@echo "make bench          measure beside torch (TORCH= has it; BENCH='calls fashion kernels import python')"
	@echo "make data           unpack Fashion-MNIST; on Debian as root, install it first"
	@echo "make install        install headers and a pkg-config file below $(PREFIX) (PREFIX=, DESTDIR=)"
	@echo "make dist           pack $(BUILD)/tensor-$(VERSION).tar.gz"
	@echo "make clean          remove $(BUILD)/"

# --- tools and what they write ------------------------------------------------------------------
TOOL_FLAGS = -std=c99 -O1 $(WARNINGS)

$(AMALGAMATE): tools/amalgamate.c tools/conditions.h | $(BUILD)/tools
	$(CC) $(TOOL_FLAGS) $< -o $@
$(CHECK): tools/check.c | $(BUILD)/tools
	$(CC) $(TOOL_FLAGS) $< -o $@
$(OPTABLE): $(wildcard tools/optable/*.[ch]) tests/ops/elements.h $(SHARED) $(SHARED:.c=.h) | $(BUILD)/tools
	$(CC) $(TOOL_FLAGS) -DTNI_OBJECTS $(filter %.c,$^) -o $@ -lm
$(BUILD)/tools $(BUILD)/unit:
	mkdir -p $@

# Which files src/ has: written when one is added or removed.
FILES := $(BUILD)/files
$(FILES): FORCE | $(BUILD)/tools
	@echo '$(SOURCES)' | cmp -s - $@ || echo '$(SOURCES)' > $@
FORCE:

# Everything that is generated from the rows; a file is written only if its content changes, and a
# header keeps its time if only comments do.
$(BUILD)/generated: $(OPTABLE) $(FILES) $(wildcard src/api/ops/* src/api/*.h src/gen/*) $(wildcard src/ops/*/*.c src/nn/*.c src/optim/*.c)
	$(OPTABLE)
	@touch $@

headers: $(BUILD)/generated $(AMALGAMATE)
	$(AMALGAMATE) src/tensor.c tensor.h
	$(AMALGAMATE) --on src/tensor.c src/tensor_nn.c tensor_nn.h
	$(AMALGAMATE) --on src/tensor_nn.c src/tensor_py.c tensor_py.c
	$(AMALGAMATE) --on src/tensor.c src/tensor_cuda.cu tensor_cuda.cu.h

check-headers: $(OPTABLE) $(AMALGAMATE) $(CHECK)
	@$(OPTABLE) --check || { echo "run 'make headers' and commit what it writes"; exit 1; }
	@$(AMALGAMATE) --check src/tensor.c tensor.h
	@$(AMALGAMATE) --check --on src/tensor.c src/tensor_nn.c tensor_nn.h
	@$(AMALGAMATE) --check --on src/tensor_nn.c src/tensor_py.c tensor_py.c
	@$(AMALGAMATE) --check --on src/tensor.c src/tensor_cuda.cu tensor_cuda.cu.h
	@$(MAKE) -s -j$(JOBS) rules-hold BUILD=$(BUILD)/rules CFLAGS="-O0 -DTN_ISA_ONLY_SCALAR" \
	    OPTABLE=$(OPTABLE) CHECK=$(CHECK)
	@printf '%s\n' "clang -std=c99" "clang++ -x c++ -std=c++20" "g++ -x c++ -std=c++11" | xargs -P $(JOBS) -I @ sh -c \
	    'c="@"; ! command -v $${c%% *} > /dev/null || $$c $(WARNINGS) -Werror -I. -DWITH_NN -fsyntax-only tests/compile/implementation.c'
	@sh tools/patches.sh
	@echo "headers are current, the rules hold"
rules-hold: objects # which files use which: objects that are soon compiled say it
	@$(NM) -A $(OBJECTS) > $(BUILD)/symbols && $(CHECK) rooms docs/design.md $(BUILD)/symbols $(TEXTS)
check-subjects:
	@sh tools/subjects.sh

picture: $(CHECK) objects # the rooms in docs/design.md, from includes and symbols
	@$(NM) -A $(OBJECTS) > $(BUILD)/symbols && $(CHECK) draw docs/design.md $(BUILD)/symbols $(TEXTS)

# --- the development build ----------------------------------------------------------------------
OBJECT_FLAGS = -std=c99 $(CFLAGS) -include src/base/exact.inl -DTNI_OBJECTS $(WARNINGS) -Werror=implicit-function-declaration

objects: $(BUILD)/libtensor.a
built: headers
	@$(MAKE) -s -j$(JOBS) objects

$(BUILD)/libtensor.a: $(OBJECTS) $(FILES)
	@rm -f $@
	$(AR) rcs $@ $(OBJECTS)
$(BUILD)/src/%.o: src/%.c | $(BUILD)/generated
	@mkdir -p $(@D)
	$(CC) $(OBJECT_FLAGS) -MMD -MP -c $< -o $@
$(BUILD)/src/kernels/kernels.o: OBJECT_FLAGS += -O2

unit: $(UNIT)
$(BUILD)/unit/%: tests/unit/%.c $(BUILD)/libtensor.a | $(BUILD)/unit
	$(CC) $(OBJECT_FLAGS) -Isrc -Itests -MMD -MP $< $(BUILD)/libtensor.a -o $@ $(LIBS)
# The program of TN_CHECK, with the files of the rooms that know it before the library.
CHECKED := $(patsubst $(BUILD)/src/%,$(BUILD)/checked/%,$(filter $(BUILD)/src/tensor/% $(BUILD)/src/autograd/%,$(OBJECTS)))
$(BUILD)/checked/%.o: src/%.c | $(BUILD)/generated
	@mkdir -p $(@D)
	$(CC) $(OBJECT_FLAGS) -DTN_CHECK -DTN_CHECK_BYTES=65536 -MMD -MP -c $< -o $@
checked: $(CHECKED)
$(BUILD)/unit/checked: tests/unit/checked.c $(CHECKED) $(BUILD)/libtensor.a | $(BUILD)/unit
	$(CC) $(OBJECT_FLAGS) -DTN_CHECK -Isrc -Itests -MMD -MP $< $(CHECKED) $(BUILD)/libtensor.a -o $@ $(LIBS)
$(BUILD)/unit/base_alone: tests/unit/base_alone.c $(filter $(BUILD)/src/base/%,$(OBJECTS)) | $(BUILD)/unit
	$(CC) $(OBJECT_FLAGS) -MMD -MP $(filter %.c %.o,$^) -o $@ $(LIBS)

# The Python package in place, for development: PYTHONPATH=. python3 -c 'import tensorh'
PYTHON ?= python3
PIC = $(MAKE) -s -j$(JOBS) CFLAGS="$(CFLAGS) -fPIC -fvisibility=hidden" BUILD=$(BUILD)/pic
python:
	@$(PIC) objects
	@$(PIC) PYTHON="$(PYTHON)" PY_OUT="$(PY_OUT)" python-extension
accuracy: python # docs/accuracy.md: the errors of functions beside torch's; PYTHON has torch and mpmath
	PYTHONPATH=. $(PYTHON) tests/oracle/accuracy_table.py
stubs: python
	PYTHONPATH=. $(PYTHON) tools/python/stubs.py
PY_OUT ?= tensorh/_C.abi3.so
PY_INCLUDE = $(shell $(PYTHON) -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
python-extension: $(patsubst src/py/%.c,$(BUILD)/src/py/%.o,$(wildcard src/py/*.c)) $(BUILD)/libtensor.a
	$(CC) -shared -o $(PY_OUT) $^ $(LIBS)
$(BUILD)/src/py/%.o: src/py/%.c | $(BUILD)/generated
	@mkdir -p $(@D)
	$(CC) $(filter-out -pedantic,$(OBJECT_FLAGS)) -I$(PY_INCLUDE) -MMD -MP -c $< -o $@
-include $(wildcard $(BUILD)/src/py/*.d)

# The CUDA backend in emulation, without nvcc or a GPU: make build/cuda_host/rows && build/cuda_host/rows row=sum
# A place behind an array of a kernel, on the stack or shared, and an address that is not a multiple of its type end the process by a signal.
CUDA_BOUNDS = -fsanitize=bounds,alignment -fsanitize-undefined-trap-on-error
CUDA_OBJECTS = $(patsubst src/cuda/%.cu,$(BUILD)/cuda_host/%.o,$(wildcard src/cuda/*.cu))
CUDA_FLAGS = -x c++ -std=c++17 -O1 -g -ffp-contract=off $(CUDA_BOUNDS) $(WARNINGS) -Wno-conversion -DTNI_OBJECTS \
    -DTNC_EMULATION='"../../tests/cuda_host/emulation.h"'
$(BUILD)/cuda_host/%.o: src/cuda/%.cu | $(BUILD)/generated
	@mkdir -p $(@D)
	$(CXX) $(CUDA_FLAGS) -MMD -MP -c $< -o $@
$(BUILD)/cuda_host/%.o: tests/cuda_host/%.cc
	@mkdir -p $(@D)
	$(CXX) $(CUDA_FLAGS) -MMD -MP -c $< -o $@
$(BUILD)/cuda_host/%.o: tests/device/%.c
	@mkdir -p $(@D)
	$(CC) -std=gnu99 -O1 -g -DTNI_OBJECTS -MMD -MP -c $< -o $@
$(BUILD)/cuda_host/%.o: tests/ops/%.c
	@mkdir -p $(@D)
	$(CC) -std=gnu99 -O1 -g -DTNI_OBJECTS -MMD -MP -c $< -o $@
# A program of its own: tests/cuda_host/NAME.cc over the backend.
$(BUILD)/cuda_host/program_%: $(BUILD)/cuda_host/%.o $(CUDA_OBJECTS) $(BUILD)/libtensor.a
	$(CXX) $(filter-out %/libtensor.a,$^) $(BUILD)/libtensor.a -o $@ $(LIBS)
coverage-cuda: $(BUILD)/cuda_host/program_coverage # how each row runs on a CUDA device, or why it does not
	@$< tests/cuda_host/missing.txt
.PRECIOUS: $(BUILD)/cuda_host/%.o
$(BUILD)/cuda_host/rows: $(CUDA_OBJECTS) $(BUILD)/libtensor.a $(addprefix $(BUILD)/cuda_host/,tested.o rows.o sample.o)
	$(CXX) $(filter-out %/libtensor.a,$^) $(BUILD)/libtensor.a -o $@ $(LIBS)
# Other objects than those of src/cuda.
CUDA_APART = $(CXX) $(CUDA_FLAGS) $< -x none $(CUDA_OBJECTS) $(BUILD)/libtensor.a -o $@ $(LIBS)
$(BUILD)/cuda_host/program_random: tests/cuda_host/random.cc $(CUDA_OBJECTS) $(BUILD)/libtensor.a
	$(CUDA_APART)
$(BUILD)/cuda_host/program_products: tests/gpu/products.cc $(CUDA_OBJECTS) $(BUILD)/libtensor.a
	$(CUDA_APART)
$(BUILD)/cuda_host/program_convolutions: tests/gpu/convolutions.cc tests/cuda_host/emu_cudnn.h $(CUDA_OBJECTS) $(BUILD)/libtensor.a
	$(CUDA_APART)

# The same programs on a GPU: make gpu compiles them by nvcc for CUDA_ARCH, the lane gpu runs them where there is one.
CUDA_ARCH ?= sm_90
NVCC ?= $(or $(shell command -v nvcc),/usr/local/cuda/bin/nvcc)
GPU_FLAGS = -std=c++17 -O2 -fmad=false -arch=$(CUDA_ARCH) -DTNI_OBJECTS -Xcompiler -fPIC
GPU_OBJECTS = $(patsubst src/cuda/%.cu,$(BUILD)/gpu/%.o,$(wildcard src/cuda/*.cu))
# Programs of tests/gpu, and of tests/cuda_host: what they ask of the emulation is left out (watch.h).
GPU_TESTS = $(addprefix $(BUILD)/gpu/,products convolutions random kernels large faults graphs streams stream_order)
$(BUILD)/gpu/%.o: src/cuda/%.cu | $(BUILD)/generated
	@mkdir -p $(@D)
	$(NVCC) $(GPU_FLAGS) -MD -c $< -o $@
$(BUILD)/gpu/libbackend.so: $(GPU_OBJECTS)
	$(NVCC) -shared -arch=$(CUDA_ARCH) $^ -o $@
GPU_LINK = $(NVCC) -arch=$(CUDA_ARCH) $(filter %.o,$^) -L$(BUILD)/gpu -lbackend -Xcompiler -rdynamic -Xlinker -rpath='$$ORIGIN' \
    -Xlinker --whole-archive $(BUILD)/libtensor.a -Xlinker --no-whole-archive -lm -lpthread -ldl -o $@
$(BUILD)/gpu/rows: $(BUILD)/gpu/test_tested.o $(addprefix $(BUILD)/cuda_host/,rows.o sample.o) $(BUILD)/gpu/libbackend.so $(BUILD)/libtensor.a
	$(GPU_LINK)
# Objects of other names than those of src/cuda.
$(GPU_TESTS): $(BUILD)/gpu/%: $(BUILD)/gpu/test_%.o $(BUILD)/gpu/libbackend.so $(BUILD)/libtensor.a
	$(GPU_LINK)
define GPU_TEST
$(BUILD)/gpu/test_%.o: $(1)/%.cc | $(BUILD)/generated
	@mkdir -p $$(@D)
	$$(NVCC) -x cu $$(GPU_FLAGS) -MD -c $$< -o $$@
endef
$(eval $(call GPU_TEST,tests/gpu))
$(eval $(call GPU_TEST,tests/cuda_host))
# As users build them: the module, fashion that loads it, and the Python package.
$(BUILD)/gpu/libtensor_cuda.so: tensor.h tensor_cuda.cu.h
	CUDA_ARCHS=$(CUDA_ARCH:sm_%=%) sh tools/cuda.sh $@
$(BUILD)/gpu/fashion: examples/fashion/*.c examples/fashion/*.h tensor.h tensor_nn.h
	@mkdir -p $(@D)
	$(CC) -std=gnu99 -O2 -DTN_EXPORT -I. examples/fashion/*.c -o $@ -lm -pthread -ldl
$(BUILD)/gpu/site/tensorh: tensor_py.c tensor.h tensor_nn.h $(shell find tensorh -name "*.py")
	$(PYTHON) -m pip install -q --no-deps --no-index --no-build-isolation --upgrade --target $(@D) .
	@touch $@
.PHONY: gpu
gpu: $(BUILD)/gpu/rows $(GPU_TESTS) $(addprefix $(BUILD)/gpu/,libtensor_cuda.so fashion site/tensorh)

# Beside torch, which $(PYTHON) has, on the same GPU; the table goes to bench/results/.
bench-gpu: $(addprefix $(BUILD)/gpu/,libtensor_cuda.so site/tensorh)
	PYTHONPATH=$(BUILD)/gpu/site TENSORH_CUDA_LIBRARY=$(BUILD)/gpu/libtensor_cuda.so $(PYTHON) bench/cuda.py --save bench/results $(GPU_CASES)

-include $(OBJECTS:.o=.d) $(CHECKED:.o=.d) $(UNIT:=.d) $(wildcard $(BUILD)/cuda_host/*.d $(BUILD)/gpu/*.d)

# --- tests: a lane is tests/<lane>/run.sh, whose last line is "N passed, N failed" ------------------
test: built
	@$(TEST) $(LANES)
test-quick: built
	@TN_QUICK=1 $(TEST) $(LANES)
test-all: built
	@TN_FULL=1 $(TEST) $(LANES); failed=$$?; \
	sh tests/promises.sh $(BUILD)/logs > docs/promises.md && exit $$failed
test-row: built
	@CC="$(CC)" CFLAGS="$(CFLAGS)" BUILD="$(BUILD)" sh tests/row.sh $(ROW)
test-faults:
	@CC="$(CC)" BUILD="$(BUILD)" sh tests/faults/apply.sh $(FAULTS)
test-python-torch: headers
	@CC="$(CC)" BUILD="$(BUILD)" sh tests/python/torch.sh
test-array-api: python
	@BUILD="$(BUILD)" PYTHON="$(PYTHON)" sh tests/python/array_api.sh
test-torch-samples:
	@CC="$(CC)" BUILD="$(BUILD)" PYTHON="$(PYTHON)" sh tests/samples/torch.sh $(SAMPLES)
test-upstream:
	@CC="$(CC)" BUILD="$(BUILD)" PYTHON="$(PYTHON)" sh tests/upstream/upstream.sh $(UPSTREAM)
coverage:
	@CC="$(CC)" BUILD="$(BUILD)" PYTHON="$(PYTHON)" sh tests/samples/coverage.sh
$(LANES:%=test-%): test-%: built
	@$(TEST) $*

# --- use ----------------------------------------------------------------------------------------
run: $(BUILD)/fashion
	$(BUILD)/fashion $(ARGS)
$(BUILD)/fashion: $(wildcard examples/fashion/*) tensor.h tensor_nn.h
	@mkdir -p $(@D)
	$(CC) -std=c99 -O2 $(WARNINGS) -I. $(filter %.c,$^) -o $@ $(LIBS)
page: tensor.h tensor_nn.h
	@sh examples/page/build.sh $(BUILD)/page
bench: headers
	CC="$(CC)" BUILD="$(abspath $(BUILD))" $(TORCH) bench/run.py $(BENCH)
data:
	sh examples/fashion/data.sh

# The CUDA backend as a module that programs load.
cuda: $(BUILD)/libtensor_cuda.so
$(BUILD)/libtensor_cuda.so: tensor.h tensor_cuda.cu.h tools/cuda.sh
	sh tools/cuda.sh $@

install:
	install -d $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(PREFIX)/lib/pkgconfig
	install -m 644 tensor.h tensor_nn.h $(DESTDIR)$(PREFIX)/include
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' tensor.pc.in \
	    > $(DESTDIR)$(PREFIX)/lib/pkgconfig/tensor.pc

DIST = $(BUILD)/tensor-$(VERSION)
dist: check-headers
	rm -rf $(DIST) && mkdir -p $(DIST)
	cp -R $(wildcard tensor.h tensor_nn.h tensor_py.c tensor_cuda.cu.h tensorh packaging pyproject.toml LICENSE *.md CMakeLists.txt tensor.pc.in Makefile \
	    src tools tests docs examples bench) $(DIST)
	rm -f $(DIST)/tensorh/*.so
	find $(DIST) -name __pycache__ -prune -exec rm -rf {} +
	tar -C $(BUILD) -czf $(DIST).tar.gz tensor-$(VERSION)

clean:
	rm -rf $(BUILD)
