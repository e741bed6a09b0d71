# What the tools are made of, and their programs, built in the current folder. Included by bench/programs.mk (GNU make).
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.

fsbml = ompi/mca/bml/fsbml

# sources FOLDER...: those in C++, but for a program's own, and those of options, which take long to compile; objects FOLDER...: of all
# sources there. In folders as the sources are.
of_mpi = onetoone collectives onesided start outage
sources = $(filter-out %/main.cpp %/options.cpp $(of_mpi:%=bench/mpi/%.cpp),$(patsubst $(TOP)/%,%,$(wildcard $(1:%=$(TOP)/%/*.cpp))))
objects = $(patsubst $(TOP)/%,%.o,$(basename $(wildcard $(foreach folder,$(1),$(TOP)/$(folder)/*.cpp $(TOP)/$(folder)/*.c))))

# ---- rooms are compiled as a whole, by sources that are written here: a third of the time that their files take one by one

core_rooms := $(sort $(patsubst %/,%,$(dir $(call sources,$(fsbml)/core/* $(fsbml)/core/*/*))))
sim_rooms := $(sort $(patsubst %/,%,$(dir $(call sources,sim/*))))
rooms := $(core_rooms) $(sim_rooms) $(addprefix tools/,points session launch text arms calibrate rails simulate trace whatif replay) \
	$(addprefix bench/,harness matrix mpi kernels p2p) tests/tools tests/bench
define newline


endef
hash := \#
room_text = $(foreach source,$(2) $(call sources,$(1)),$(hash)include "$(source)"$(newline))
differ = $(or $(subst x$(1),,x$(2)),$(subst x$(2),,x$(1)))
write = $(if $(call differ,$(strip $(file <$(1))),$(strip $(2))),$(shell mkdir -p $(dir $(1)))$(file >$(1),$(2)))
$(foreach room,$(rooms),$(call write,$(room).cpp,$(call room_text,$(room))))
# The two programs of a demo, each with what it needs: that includes the same large headers, and who starts one for the first time
# waits for it.
$(call write,bench/harness.program.cpp,$(call room_text,bench/harness tools/arms tools/launch tools/text tools/points,bench/harness/main.cpp))
$(call write,bench/onetoone.cpp,$(call room_text,tools/session tools/points,bench/mpi/onetoone.cpp bench/mpi/draws.cpp))
# Their objects, and those of programs in their folders.
in_rooms = $(1:%=%.o) $(1:%=%/%.o)

# ---- libraries: each needs those above it only

# Tables are written by the code that reads them, and rules are the component's, so the core is part of the tools.
libcore.a: $(core_rooms:%=%.o)
libsim.a: $(sim_rooms:%=%.o)
# Of programs that measure: what they take, print, and count; and how they start MPI.
libpoints.a: tools/points.o tools/points/options.o
libsession.a: tools/session.o
libtools.a: tools/launch.o tools/text.o
libarms.a: tools/arms.o
libcalibrate.a: tools/calibrate.o
librails.a: tools/rails.o
libsimulate.a: tools/simulate.o
libtrace.a: tools/trace.o
libwhatif.a: tools/whatif.o
libreplay.a: tools/replay.o

# Anew each time, so that nothing stays in it of a file that is gone. By q, as rooms may have files of the same name.
lib%.a:
	@rm -f $@
	$(AR) qcs $@ $^

# ---- programs; each room's folder has the name already

calibrate.program: tools/calibrate/main.o libcalibrate.a libtools.a libcore.a
rails.program: tools/rails/main.o librails.a libtools.a libcore.a
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
$(fsbml)/core/explain/%.o: optimise = -Os -fvisibility=hidden
$(fsbml)/core/measure/%.o $(fsbml)/core/records.o: optimise = -O1 -fvisibility=hidden
$(call in_rooms,tools/simulate tools/trace tools/whatif tools/replay): optimise = -O1
$(call in_rooms,tools/launch tools/text tools/arms tools/calibrate) tools/%/main.o tools/points/options.o: optimise = -O0

# Where there is MPI: without its own C++ classes, which 4.1 may still bring.
mpi_compile := $(shell "$(MPICC)" --showme:compile) -DOMPI_SKIP_MPICXX=1
mpi_link := $(shell "$(MPICC)" --showme:link)
tools/session.o tools/jobs/%.o: mpi = $(mpi_compile)
calibrate_job replay_job:
	$(CXX) $(LDFLAGS) -o $@ $^ $(mpi_link)

vpath %.cpp $(TOP)
vpath %.c $(TOP)
vpath %.h $(TOP)
include_flags = -I$(TOP) -I$(TOP)/$(fsbml) -I$(TOP)/$(fsbml)/core
%.o: %.cpp
	@mkdir -p $(@D)
	$(CXX) -std=c++17 $(optimise) -Wall -Wextra -Wshadow $(include_flags) $(mpi) $(CPPFLAGS) $(CXXFLAGS) -MD -MP -c -o $@ $<

-include $(wildcard sim/*.d tools/*.d tools/*/*.d bench/*.d bench/*/*.d tests/*.d $(fsbml)/core/*.d $(fsbml)/core/*/*.d)
