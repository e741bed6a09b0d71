#!/usr/bin/env bash
# Prints the man page of the driver, fsbml(1), made of its help texts.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
#
# usage: manpage.sh DRIVER
set -euo pipefail
driver=$1

# as_is: text for roff, line by line.
as_is() {
    echo .nf
    sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^[.']/\\\\\&&/"
    echo .fi
}

cat <<'END'
.TH FSBML 1 "" FSBML "User commands"
.SH NAME
fsbml \- try and measure FSBML, a multi\-rail scheduler for Open MPI
.SH SYNOPSIS
.B fsbml
.I COMMAND
.RI [ options ]
.SH DESCRIPTION
MPI jobs need none of these commands: they use the component by
.BR "mpirun \-\-mca pml ob1 \-\-mca bml fsbml" ,
see
.BR fsbml (7).
The commands show what it gains, and what the networks (rails) of nodes are. Programs are compiled when they are first used.
.SH COMMANDS
END
help=$("$driver" --help)
sed -n '/^  [a-z]/,$p' <<<"$help" | as_is
while read -r command; do
    printf '.SH "FSBML %s"\n' "${command^^}"
    "$driver" "$command" --help | as_is
done < <(sed -nE 's/^  ([a-z]+) .*/\1/p' <<<"$help")
cat <<'END'
.SH FILES
.TP
.I ~/.cache/fsbml
what the commands compile, and the parameters that jobs have kept.
.SH ENVIRONMENT
.TP
.B FSBML_OPENMPI
the prefix of the Open MPI to use; default: that of the mpicc on the PATH.
.SH "SEE ALSO"
.BR fsbml (7),
.BR mpirun (1)
END
