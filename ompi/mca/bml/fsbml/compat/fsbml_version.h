/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* FSBML's version, here alone: configure.ac and the driver read this line, the packages' recipes are checked
 * against it. It is beside the component's sources because these also are compiled inside Open MPI's tree. */
#define FSBML_VERSION "0.1.0"
