# The programs of the MPI tests, built in the current folder for one Open MPI (GNU make): `suite` from all files with a case, and
# those that need an MPI_Init and MPI_Finalize of their own.
#   make -f .../tests/mpi/programs.mk TOP=<the project> MPICC=<that Open MPI's> [SKIP="<programs that it cannot compile>"]
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.

here = $(TOP)/tests/mpi
cases := $(basename $(notdir $(shell grep -l '^CHECK_CASE' $(here)/*.c)))
programs := $(filter-out $(cases) check $(SKIP),$(basename $(notdir $(wildcard $(here)/*.c))))
flags = -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -g -Wall -Wextra -Wshadow -Werror

all: $(programs)

suite: $(cases:=.o)

$(programs): %: %.o check.o
	$(MPICC) -o $@ $(filter %.o,$^) -pthread

%.o: $(here)/%.c $(here)/programs.mk
	$(MPICC) $(flags) -MD -MP -c -o $@ $<

-include $(wildcard *.d)
.SECONDARY:
