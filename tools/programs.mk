# What the tools are made of, and their programs, built in the current folder. Included by bench/programs.mk (GNU make).
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.

fsbml = ompi/mca/bml/fsbml

# objects FOLDER...: of all sources there; parts FOLDER...: without a program's own. In folders as the sources are.
objects = $(patsubst $(TOP)/%,%.o,$(basename $(wildcard $(foreach folder,$(1),$(TOP)/$(folder)/*.cpp $(TOP)/$(folder)/*.c))))
parts = $(filter-out %/main.o,$(call objects,$(1)))

# ---- libraries: each needs those above it only

# Tables are written by the code that reads them, and rules are the component's, so the core is part of the tools.
libcore.a: $(call objects,$(fsbml)/core/* $(fsbml)/core/*/*)
libsim.a: $(call objects,sim/*)
# Of programs that measure: what they take, print, and count; and how they start MPI.
libpoints.a: $(call objects,tools/points)
libsession.a: $(call objects,tools/session)
libtools.a: $(call objects,tools/launch tools/text)
libarms.a: $(call objects,tools/arms)
libcalibrate.a: $(call parts,tools/calibrate)
libsimulate.a: $(call parts,tools/simulate)
libtrace.a: $(call parts,tools/trace)
libwhatif.a: $(call parts,tools/whatif)
libreplay.a: $(call parts,tools/replay)

# Anew each time, so that nothing stays in it of a file that is gone. By q, as rooms may have files of the same name.
lib%.a:
	@rm -f $@
	$(AR) qcs $@ $^

# ---- programs; each room's folder has the name already

calibrate.program: tools/calibrate/main.o libcalibrate.a libtools.a libcore.a
simulate.program: tools/simulate/main.o libsimulate.a libtools.a libsim.a libcore.a
trace.program: tools/trace/main.o libtrace.a libtools.a libsim.a libcore.a
whatif.program: tools/whatif/main.o libwhatif.a libtools.a libsim.a libcore.a
replay.program: tools/replay/main.o libreplay.a libwhatif.a libarms.a libtools.a libpoints.a libsim.a libcore.a

%.program:
	$(CXX) $(LDFLAGS) -o $@ $^ -lfmt -pthread

calibrate_job: tools/jobs/calibrate.o
replay_job: tools/jobs/replay.o libsession.a libpoints.a libsim.a libcore.a

# ---- how

# Only what is timed or takes long is worth optimising; the core is compiled as in the component.
optimise = -O2
$(fsbml)/%.o: optimise = -O2 -fvisibility=hidden
tools/simulate/%.o tools/trace/%.o tools/whatif/%.o tools/replay/%.o: optimise = -O1
tools/launch/%.o tools/text/%.o tools/arms/%.o tools/calibrate/%.o tools/points/options.o: optimise = -O0

# Where there is MPI: without its own C++ classes, which 4.1 may still bring.
mpi_compile := $(shell "$(MPICC)" --showme:compile) -DOMPI_SKIP_MPICXX=1
mpi_link := $(shell "$(MPICC)" --showme:link)
tools/session/%.o tools/jobs/%.o: mpi = $(mpi_compile)
calibrate_job replay_job:
	$(CXX) $(LDFLAGS) -o $@ $^ $(mpi_link)

vpath %.cpp $(TOP)
vpath %.c $(TOP)
vpath %.h $(TOP)
include_flags = -I$(TOP) -I$(TOP)/$(fsbml) -I$(TOP)/$(fsbml)/core
%.o: %.cpp
	@mkdir -p $(@D)
	$(CXX) -std=c++17 $(optimise) -Wall -Wextra -Wshadow $(include_flags) $(mpi) $(CPPFLAGS) $(CXXFLAGS) -MMD -MP -c -o $@ $<

-include $(wildcard sim/*/*.d tools/*/*.d bench/*/*.d tests/*/*.d $(fsbml)/core/*/*.d $(fsbml)/core/*/*/*.d)
