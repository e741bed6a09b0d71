# The benchmarks and the tools, built in the current folder for one Open MPI (GNU make):
#   make -f .../bench/programs.mk TOP=<the project> MPICC=<that Open MPI's> PROGRAM...
# What has no part of Open MPI is built with MPICC=true, too.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.

all: onetoone collectives p2p onesided start outage kernels calibrate_job replay_job harness.program calibrate.program libfsbml_probe.so

include $(TOP)/tools/programs.mk

# ---- what runs the benchmarks

libharness.a: bench/harness.o
libmatrix.a: bench/matrix.o
harness.program: bench/harness.program.o
matrix.program: bench/matrix/main.o libmatrix.a libarms.a libtools.a libpoints.a libcore.a
$(call in_rooms,bench/harness bench/matrix) bench/harness.program.o: optimise = -O0

# ---- programs of MPI

libmpi.a: bench/mpi.o
libkernels.a: bench/kernels.o
libbtl.a: $(filter-out %/main.o,$(call objects,bench/btl))
onetoone: bench/onetoone.o tools/points/options.o
$(filter-out onetoone,$(of_mpi)): %: bench/mpi/%.o libmpi.a libsession.a libpoints.a
p2p: bench/p2p.o libsession.a libpoints.a
kernels: bench/kernels/main.o libkernels.a libsession.a libpoints.a
# Not one of `all`: needs Open MPI's internal headers.
btlbench: bench/btl/main.o libbtl.a libsession.a libpoints.a
btlbench: mpi_link += -lopen-pal
$(call in_rooms,bench/mpi bench/p2p bench/kernels bench/btl) bench/onetoone.o: mpi = $(mpi_compile)
$(of_mpi) p2p kernels btlbench:
	$(CXX) $(LDFLAGS) -o $@ $^ $(mpi_link)

# Goes into programs that are not ours by LD_PRELOAD, and into those that mpirun starts beside them: so it links nothing.
libfsbml_probe.so: bench/app/probe.c bench/app/interfaces.c bench/app/interfaces.h
	$(CC) -std=c11 -O2 -fPIC -shared -fvisibility=hidden -Wall -Wextra $(mpi_compile) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.c,$^) -ldl

# Open MPI's inside, for btl/ and state_size only. 5.0 does not install all headers that it includes.
ompi_info = $(patsubst %mpicc,%ompi_info,$(MPICC:.openmpi=))
pkginclude = $(shell "$(ompi_info)" --parsable --path pkgincludedir | sed -n 's/^path:pkgincludedir://p')
# Its PMIx's are where configure.m4 looks for them.
pmix = $(shell "$(ompi_info)" --config | sed -n 's/^ *Build LDFLAGS://p' | tr ' ' '\n' | sed -n 's|^-L\(.*\)/[^/]*$$|-I\1/include|p'; \
	pkg-config --cflags pmix 2>/dev/null)
inside = $(addprefix -I,$(pkginclude)) $(pmix) -I$(TOP)/$(fsbml)/compat/include
bench/btl/%.o: bench/btl/%.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -Wall -Wextra $(mpi_compile) $(inside) $(include_flags) $(CPPFLAGS) $(CFLAGS) -MD -MP -c -o $@ $<

# ---- the core

vft_bench: bench/micro/vft_bench.o bench/micro/delivery_bench.o libcore.a
	$(CXX) $(LDFLAGS) -o $@ $^ -lbenchmark -pthread

state_size: bench/micro/state_size.c
	$(CC) -std=gnu11 -O1 -Wall $(mpi_compile) $(inside) $(include_flags) $(CPPFLAGS) $(CFLAGS) -o $@ $<

# ---- tests of the parts (GoogleTest), for CXXFLAGS and LDFLAGS with sanitizers, and CORE: an archive of the core with them

tests/%.o: optimise = -O0
bench_tests: tests/tools.o tests/bench.o bench/mpi/draws.o libharness.a libmatrix.a libcalibrate.a libreplay.a librails.a libwhatif.a \
	libsimulate.a libarms.a libtools.a libpoints.a libsim.a $(CORE)
	$(CXX) $(LDFLAGS) -o $@ $^ -lfmt -lgtest_main -lgtest -pthread

.PHONY: all
