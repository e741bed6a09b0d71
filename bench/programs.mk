# The benchmark programs, built in the current folder for one Open MPI (GNU make):
#   make -f .../bench/programs.mk TOP=<the project> MPICC=<that Open MPI's> PROGRAM...
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.

bench = $(TOP)/bench
fsbml = $(TOP)/ompi/mca/bml/fsbml
cluster = $(TOP)/tests/sim/cluster
vpath %.cpp $(bench)
vpath %.c $(bench)

# ---- what each program is made of

common = common/options.o common/output.o common/session.o common/traffic.o

onetoone = mpi/onetoone.o mpi/draws.o $(common)
collectives = $(patsubst $(bench)/%.cpp,%.o,$(wildcard $(bench)/mpi/collectives*.cpp)) $(common)
p2p = $(patsubst $(bench)/%.cpp,%.o,$(wildcard $(bench)/mpi/p2p*.cpp)) $(common)
onesided = mpi/onesided.o $(common)
calibrate_job = calibrate/job.o
# Reads traces as the simulator does.
replay_job = mpi/replay.o cluster.objects/trace.o cluster.objects/trace_lines.o $(common)
mpi_programs = onetoone collectives p2p onesided calibrate_job replay_job

# The program has the folder's name, so its objects are in another.
kernels = $(patsubst $(bench)/kernels/%.cpp,kernels.objects/%.o,$(wildcard $(bench)/kernels/*.cpp)) $(common)
mpi_programs += kernels

# Not one of `all`: needs Open MPI's internal headers.
btlbench = $(patsubst $(bench)/%.cpp,%.o,$(wildcard $(bench)/btl/*.cpp)) btl/port.o $(common)

harness = $(patsubst $(bench)/%.cpp,%.o,$(wildcard $(bench)/harness/*.cpp)) common/traffic.o

# With the harness' parts, and the core itself: tables are written by the code that reads them.
core = $(patsubst $(fsbml)/core/%.cpp,core.objects/%.o,$(wildcard $(fsbml)/core/*/*.cpp $(fsbml)/core/*/*/*.cpp))
vft_bench = micro/vft_bench.o $(core)
calibrate = $(filter-out calibrate/job.o,$(patsubst $(bench)/%.cpp,%.o,$(wildcard $(bench)/calibrate/*.cpp))) \
	$(filter-out harness/main.o,$(harness)) $(core)

# The simulator of a cluster is the tests'; so are the rules in it. No part of Open MPI: MPICC=true will do.
simulator = $(patsubst $(cluster)/%.cpp,cluster.objects/%.o,$(wildcard $(cluster)/*.cpp))
simulate = $(patsubst $(bench)/%.cpp,%.o,$(wildcard $(bench)/simulate/*.cpp)) \
	$(addprefix harness/,arms.o compare.o launch.o progress.o results.o table.o) $(simulator) $(core)
replay = $(patsubst $(bench)/%.cpp,%.o,$(wildcard $(bench)/replay/*.cpp)) whatif/rails.o whatif/job.o \
	$(filter-out harness/main.o,$(harness)) $(simulator) $(core)
whatif = $(patsubst $(bench)/%.cpp,%.o,$(wildcard $(bench)/whatif/*.cpp)) \
	$(filter-out harness/main.o,$(harness)) $(simulator) $(core)
trace = $(patsubst $(bench)/%.cpp,%.o,$(wildcard $(bench)/trace/*.cpp)) \
	$(filter-out harness/main.o,$(harness)) $(simulator) $(core)

matrix = $(patsubst $(bench)/%.cpp,%.o,$(wildcard $(bench)/matrix/*.cpp)) harness/write.o harness/command.o harness/launch.o

# ---- how

# Without MPI's own C++ classes, which 4.1 may still bring. Only what is timed is worth optimising.
CXXFLAGS_ALL = -std=c++17 -Wall -Wextra -I$(bench)/common $(CPPFLAGS) $(CXXFLAGS)
mpi_compile := $(shell "$(MPICC)" --showme:compile) -DOMPI_SKIP_MPICXX=1
mpi_link := $(shell "$(MPICC)" --showme:link)

all: $(mpi_programs) harness.program calibrate.program libfsbml_probe.so

# Open MPI's inside, for btl/ only. 5.0 does not install all headers that it includes.
ompi_info = $(patsubst %mpicc,%ompi_info,$(MPICC:.openmpi=))
pkginclude = $(shell "$(ompi_info)" --parsable --path pkgincludedir | sed -n 's/^path:pkgincludedir://p')
inside = $(addprefix -I,$(pkginclude)) -I$(fsbml) -I$(fsbml)/compat/include
btlbench: mpi_link += -lopen-pal

state_size: micro/state_size.c
	$(CC) -std=gnu11 -O1 -Wall $(mpi_compile) $(inside) -I$(fsbml)/core $(CPPFLAGS) $(CFLAGS) -o $@ $<

# As the component is compiled.
core_flags = -O2 -fvisibility=hidden
vft_bench: $(vft_bench)
	$(CXX) $(LDFLAGS) -o $@ $^ -lbenchmark -pthread

.SECONDEXPANSION:
$(mpi_programs) btlbench: $$($$@)
	$(CXX) $(LDFLAGS) -o $@ $^ $(mpi_link)

# The folder has the name.
harness.program: $(harness)
	$(CXX) $(LDFLAGS) -o $@ $^ -lfmt

calibrate.program: $(calibrate)
	$(CXX) $(LDFLAGS) -o $@ $^ -lfmt

simulate.program: $(simulate)
	$(CXX) $(LDFLAGS) -o $@ $^ -lfmt -pthread
whatif.program: $(whatif)
	$(CXX) $(LDFLAGS) -o $@ $^ -lfmt
trace.program: $(trace)
	$(CXX) $(LDFLAGS) -o $@ $^ -lfmt
matrix.program: $(matrix)
	$(CXX) $(LDFLAGS) -o $@ $^ -lfmt
replay.program: $(replay)
	$(CXX) $(LDFLAGS) -o $@ $^ -lfmt

# Goes into programs that are not ours by LD_PRELOAD, and into those that mpirun starts beside them: so it links nothing.
libfsbml_probe.so: app/probe.c app/interfaces.c $(bench)/app/interfaces.h
	$(CC) -std=c11 -O2 -fPIC -shared -fvisibility=hidden -Wall -Wextra $(mpi_compile) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.c,$^) -ldl

%.o: %.cpp
	@mkdir -p $(@D)
	$(CXX) -O2 $(mpi_compile) $(CXXFLAGS_ALL) -MMD -MP -c -o $@ $<
kernels.objects/%.o: kernels/%.cpp
	@mkdir -p $(@D)
	$(CXX) -O2 $(mpi_compile) $(CXXFLAGS_ALL) -MMD -MP -c -o $@ $<
btl/%.o: btl/%.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -Wall -Wextra $(mpi_compile) $(inside) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
common/options.o: common/options.cpp
	@mkdir -p $(@D)
	$(CXX) -O0 $(CXXFLAGS_ALL) -MMD -MP -c -o $@ $<
harness/%.o: harness/%.cpp
	@mkdir -p $(@D)
	$(CXX) -O0 $(CXXFLAGS_ALL) -MMD -MP -c -o $@ $<
matrix/%.o: matrix/%.cpp
	@mkdir -p $(@D)
	$(CXX) -O0 $(CXXFLAGS_ALL) -I$(bench)/harness -MMD -MP -c -o $@ $<
calibrate/job.o: calibrate/job.cpp
	@mkdir -p $(@D)
	$(CXX) -O2 $(mpi_compile) $(CXXFLAGS_ALL) -MMD -MP -c -o $@ $<
calibrate/%.o: calibrate/%.cpp
	@mkdir -p $(@D)
	$(CXX) -O0 $(CXXFLAGS_ALL) -I$(bench)/harness -I$(fsbml)/core -MMD -MP -c -o $@ $<
simulate/%.o: simulate/%.cpp
	@mkdir -p $(@D)
	$(CXX) -O1 -I$(cluster) $(CXXFLAGS_ALL) -Wshadow -I$(bench)/harness -I$(fsbml)/core -MMD -MP -c -o $@ $<
cluster.objects/%.o: $(cluster)/%.cpp
	@mkdir -p $(@D)
	$(CXX) -O2 $(CXXFLAGS_ALL) -I$(cluster) -I$(fsbml)/core -MMD -MP -c -o $@ $<
mpi/replay.o: mpi/replay.cpp
	@mkdir -p $(@D)
	$(CXX) -O2 $(mpi_compile) $(CXXFLAGS_ALL) -I$(TOP)/tests -I$(fsbml)/core -MMD -MP -c -o $@ $<
replay/%.o: replay/%.cpp
	@mkdir -p $(@D)
	$(CXX) -O1 $(CXXFLAGS_ALL) -Wshadow -I$(bench) -I$(bench)/harness -I$(TOP)/tests -I$(fsbml)/core -MMD -MP -c -o $@ $<
whatif/%.o: whatif/%.cpp
	@mkdir -p $(@D)
	$(CXX) -O1 $(CXXFLAGS_ALL) -I$(bench)/harness -I$(TOP)/tests -I$(fsbml)/core -MMD -MP -c -o $@ $<
trace/%.o: trace/%.cpp
	@mkdir -p $(@D)
	$(CXX) -O1 $(CXXFLAGS_ALL) -Wshadow -I$(bench)/harness -I$(TOP)/tests -I$(fsbml)/core -MMD -MP -c -o $@ $<
core.objects/%.o: $(fsbml)/core/%.cpp
	@mkdir -p $(@D)
	$(CXX) $(core_flags) -I$(fsbml)/core $(CXXFLAGS_ALL) -MMD -MP -c -o $@ $<
micro/%.o: micro/%.cpp
	@mkdir -p $(@D)
	$(CXX) -O2 $(CXXFLAGS_ALL) -I$(fsbml)/core -MMD -MP -c -o $@ $<

# The parts' own tests (GoogleTest), for CXXFLAGS and LDFLAGS with sanitizers, and CORE: an archive of the core with them.
tests = $(patsubst $(TOP)/tests/bench/%.cpp,tests/%.o,$(wildcard $(TOP)/tests/bench/*.cpp))
tested = $(filter-out $(core),$(sort $(filter-out calibrate/main.o,$(calibrate)) $(filter-out simulate/main.o,$(simulate)) \
	$(filter-out replay/main.o,$(replay)) $(filter-out matrix/main.o,$(matrix)))) mpi/draws.o common/options.o
bench_tests: $(tests) $(tested) $(CORE)
	$(CXX) $(LDFLAGS) -o $@ $^ -lfmt -lgtest_main -lgtest -pthread
# Two headers are called traffic.hpp.
tests/simulate%.o: $(TOP)/tests/bench/simulate%.cpp
	@mkdir -p $(@D)
	$(CXX) -O0 -I$(cluster) $(CXXFLAGS_ALL) -I$(bench)/harness -I$(bench)/simulate -I$(fsbml)/core -MMD -MP -c -o $@ $<
tests/replay%.o: $(TOP)/tests/bench/replay%.cpp
	@mkdir -p $(@D)
	$(CXX) -O0 $(CXXFLAGS_ALL) -I$(bench) -I$(bench)/harness -I$(TOP)/tests -I$(fsbml)/core -MMD -MP -c -o $@ $<
tests/%.o: $(TOP)/tests/bench/%.cpp
	@mkdir -p $(@D)
	$(CXX) -O0 $(CXXFLAGS_ALL) -I$(bench)/harness -I$(bench)/mpi -I$(bench)/calibrate -I$(bench)/matrix -I$(fsbml)/core -MMD -MP -c -o $@ $<

-include $(wildcard */*.d */*/*.d */*/*/*.d)
.PHONY: all
