# -*- shell-script -*-
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# SPDX-License-Identifier: BSD-3-Clause
#
# What FSBML asks of the machine when it is built on its own: a C++17 compiler, and an Open MPI with its internal headers.

AC_ARG_WITH([openmpi],
    [AS_HELP_STRING([--with-openmpi=PREFIX],
                    [the Open MPI to build for (default: that of the mpicc on the PATH); no: only the core and its tests])],
    [], [with_openmpi=yes])
AC_ARG_WITH([openmpi-headers],
    [AS_HELP_STRING([--with-openmpi-headers=DIR],
                    [the internal headers of that Open MPI, where it has not installed them: './fsbml build --source' makes
                     such a folder, and proves that it fits])])
AC_ARG_WITH([component-dir],
    [AS_HELP_STRING([--with-component-dir=DIR],
                    [where the component and its help file are installed (default: the component folder of that Open MPI;
                     Open MPI also searches ~/.openmpi/components)])])

m4_include([ompi/mca/bml/fsbml/configure.m4])
FSBML_EXPORTS
FSBML_CXX_INSIDE
FSBML_CXX17([], [AC_MSG_ERROR([FSBML needs a C++17 compiler; '$CXX' is none (g++ 7 or clang 5 and later are).])])

# ---- GoogleTest: only `make check` needs it

AC_LANG_PUSH([C++])
AC_CHECK_HEADER([gtest/gtest.h], [FSBML_HAVE_GTEST=yes], [FSBML_HAVE_GTEST=no])
AC_LANG_POP([C++])

# ---- which Open MPI

# FSBML_FIND_TOOL(variable, name)
# Debian keeps Open MPI's programs under NAME.openmpi; NAME alone may be MPICH's.
AC_DEFUN([FSBML_FIND_TOOL], [
    AC_PATH_PROGS([$1], [$2.openmpi $2], [], [$fsbml_path])
    AS_IF([test -z "$$1"],
          [AS_IF([test "$with_openmpi" = yes],
                 [AC_MSG_ERROR([there is no $2 on the PATH: install Open MPI with its development files (Debian: openmpi-bin libopenmpi-dev) or name one with --with-openmpi=PREFIX.])],
                 [AC_MSG_ERROR([$with_openmpi is not the prefix of an Open MPI: it has no bin/$2.])])])
])

# FSBML_INTERNAL_HEADERS
# All that the shim includes, but for what only one of the versions has.
m4_define([FSBML_INTERNAL_HEADERS], [[
    #include "ompi_config.h"
    #include "ompi/mca/bml/base/base.h"
    #include "ompi/mca/bml/bml.h"
    #include "ompi/proc/proc.h"
    #include "opal/mca/base/mca_base_pvar.h"
    #include "opal/mca/btl/base/base.h"
    #include "opal/runtime/opal_progress.h"
    #include "opal/util/if.h"
    #include "opal/util/show_help.h"
    #if OMPI_MAJOR_VERSION >= 5
    #include "ompi/runtime/ompi_rte.h"
    #include "opal/mca/pmix/pmix-internal.h"
    #else
    #include "ompi/mca/rte/rte.h"
    #include "opal/mca/pmix/pmix.h"
    #endif
]])

# FSBML_INTERFACES
# What the shim takes for granted of BML and BTL since 5.0: their versions, callbacks and fields.
m4_define([FSBML_INTERFACES], [AC_LANG_PROGRAM([FSBML_INTERNAL_HEADERS [
    #ifndef MCA_BML_BASE_VERSION_2_1_0
    #error "the version of the BML interface is not 2.1.0"
    #endif
    #if BTL_VERSION < 330 || BTL_VERSION >= 400
    #error "the version of the BTL interface is not 3.3 or a later 3"
    #endif
    static void received(struct mca_btl_base_module_t *btl, const mca_btl_base_receive_descriptor_t *des)
    { (void) btl; (void) des->endpoint; (void) des->des_segments; (void) des->des_segment_count; (void) des->cbdata; }
    static void completed(struct mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                          mca_btl_base_descriptor_t *des, int status)
    { (void) btl; (void) endpoint; (void) des->des_context; (void) des->des_cbfunc; (void) status; }
    static int send_it(struct mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                    mca_btl_base_descriptor_t *des, mca_btl_base_tag_t tag)
    { (void) btl; (void) endpoint; (void) tag; return des->des_flags >> 24; }
    static int add_procs(size_t n, struct ompi_proc_t **procs, struct opal_bitmap_t *reachable)
    { (void) n; (void) procs; (void) reachable; return 0; }
    _Static_assert(4 == sizeof(((mca_btl_base_descriptor_t *) 0)->des_flags), "des_flags");]],
    [[mca_bml_base_module_t bml = {.bml_add_procs = add_procs};
      mca_btl_base_module_t btl = {.btl_send = send_it};
      mca_btl_base_module_recv_cb_fn_t on_receive = received;
      mca_btl_base_completion_fn_t on_completion = completed;
      mca_bml_base_endpoint_t *ep = 0;
      return ep->btl_eager.bml_btls && ep->btl_send.arr_size && ep->btl_rdma.arr_size && ep->btl_max_send_size
             && bml.bml_add_procs && btl.btl_send && on_receive && on_completion;]])])

fsbml_hooks=none
AS_IF([test "$with_openmpi" != no], [
    fsbml_path=$PATH
    AS_IF([test "$with_openmpi" != yes], [fsbml_path=$with_openmpi/bin])
    FSBML_FIND_TOOL([MPICC], [mpicc])
    FSBML_FIND_TOOL([OMPI_INFO], [ompi_info])

    AC_MSG_CHECKING([for the version of Open MPI])
    fsbml_version=`"$MPICC" --showme:version 2>/dev/null | sed -n 's/.*Open MPI v\{0,1\}\([[0-9]][[^ ]]*\).*/\1/p'`
    AC_MSG_RESULT([${fsbml_version:-none}])
    # A version that FSBML has not been tried with is judged by its headers, below.
    fsbml_untried=no
    AS_CASE([$fsbml_version],
            [4.1.*|5.0.*|6.0.*], [],
            [""], [AC_MSG_ERROR([$MPICC is not Open MPI's compiler wrapper; name an Open MPI with --with-openmpi=PREFIX.])],
            [[[0-3].*|4.0.*]], [AC_MSG_ERROR([FSBML needs Open MPI 4.1 or newer; $MPICC belongs to $fsbml_version.])],
            [fsbml_untried=yes])

    # FSBML_OMPI_PATH(variable, name that ompi_info has for it)
    m4_define([FSBML_OMPI_PATH], [
        $1=`"$OMPI_INFO" --parsable --path $2 2>/dev/null | sed -n 's/^path:$2://p' | head -n 1`
        AS_IF([test -z "$$1"], [AC_MSG_ERROR([$OMPI_INFO does not tell its $2; is the installation complete?])])
    ])
    FSBML_OMPI_PATH([fsbml_pkgincludedir], [pkgincludedir])
    AS_CASE([$with_openmpi_headers], [""|yes|no], [], [fsbml_pkgincludedir=$with_openmpi_headers])
    FSBML_OMPI_PATH([fsbml_pkglibdir], [pkglibdir])
    FSBML_OMPI_PATH([fsbml_pkgdatadir], [pkgdatadir])

    FSBML_CPPFLAGS="`"$MPICC" --showme:compile`"
    AS_CASE([" $FSBML_CPPFLAGS "], [*" -I$fsbml_pkgincludedir "*], [],
            [FSBML_CPPFLAGS="-I$fsbml_pkgincludedir $FSBML_CPPFLAGS"])

    # ---- its internal headers

    AC_MSG_CHECKING([for Open MPI's internal headers])
    AS_IF([test -f "$fsbml_pkgincludedir/ompi/mca/bml/bml.h"],
          [AC_MSG_RESULT([$fsbml_pkgincludedir])],
          [AC_MSG_RESULT([missing])
           AC_MSG_ERROR([Open MPI $fsbml_version has no $fsbml_pkgincludedir/ompi/mca/bml/bml.h: the internal headers are missing. On Debian they are in libopenmpi-dev; an Open MPI of your own must be configured with --with-devel-headers; './fsbml build --source' takes them from its source.])])

    # 5.0.7 does not install the headers of the threading library that it was configured for, yet includes them everywhere.
    AC_MSG_CHECKING([for the headers of Open MPI's threading library])
    fsbml_gap=
    for fsbml_header in `sed -n 's/^.define MCA_threads_.*_HEADER "\(.*\)".*/\1/p' "$fsbml_pkgincludedir/opal_config.h"`; do
        test -f "$fsbml_pkgincludedir/$fsbml_header" || fsbml_gap="$fsbml_gap $fsbml_header"
    done
    AS_IF([test -z "$fsbml_gap"],
          [AC_MSG_RESULT([there])],
          [for fsbml_header in $fsbml_gap; do
               AS_IF([test ! -f "$srcdir/ompi/mca/bml/fsbml/compat/include/$fsbml_header"],
                     [AC_MSG_RESULT([missing])
                      AC_MSG_ERROR([Open MPI $fsbml_version has not installed its header $fsbml_header, and FSBML has no replacement for it (only for POSIX threads); copy it from the source tree to $fsbml_pkgincludedir.])])
           done
           AC_MSG_RESULT([not installed, using FSBML's own])])

    fsbml_cppflags_save=$CPPFLAGS

    # Open MPI's headers include PMIx's. Where those have a folder of their own, mpicc does not name it: it is beside the
    # library that Open MPI was linked with, or pkg-config knows it.
    AS_CASE([$fsbml_version], [4.*], [], [
        AC_MSG_CHECKING([for the headers of Open MPI's PMIx])
        fsbml_pmix=none
        for fsbml_try in "" \
            `"$OMPI_INFO" --config 2>/dev/null | sed -n 's/^ *Build LDFLAGS://p' | tr ' ' '\n' | sed -n 's|^-L\(.*\)/[[^/]]*$|-I\1/include|p'` \
            "`pkg-config --cflags pmix 2>/dev/null`"; do
            CPPFLAGS="$fsbml_cppflags_save $FSBML_CPPFLAGS $fsbml_try"
            AC_PREPROC_IFELSE([AC_LANG_SOURCE([[
                #include <pmix.h>
                ]])], [fsbml_pmix=$fsbml_try
                       break])
        done
        AS_CASE([$fsbml_pmix],
                [none], [AC_MSG_RESULT([missing])
                         AC_MSG_ERROR([pmix.h, which the headers of Open MPI $fsbml_version include, was not found: install the development files of its PMIx (Debian: libpmix-dev), or name the folder with CPPFLAGS=-I...])],
                [""], [AC_MSG_RESULT([no flag needed])],
                [AC_MSG_RESULT([$fsbml_pmix])
                 FSBML_CPPFLAGS="$FSBML_CPPFLAGS $fsbml_pmix"])])

    AC_MSG_CHECKING([whether they compile])
    CPPFLAGS="$fsbml_cppflags_save $FSBML_CPPFLAGS"
    AS_IF([test -n "$fsbml_gap"],
          [CPPFLAGS="$CPPFLAGS -I$srcdir/ompi/mca/bml/fsbml/compat/include"
           FSBML_CPPFLAGS="$FSBML_CPPFLAGS -I\$(top_srcdir)/ompi/mca/bml/fsbml/compat/include"])
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([FSBML_INTERNAL_HEADERS])], [AC_MSG_RESULT([yes])],
                      [AC_MSG_RESULT([no])
                       AC_MSG_ERROR([the internal headers of Open MPI $fsbml_version in $fsbml_pkgincludedir do not compile; config.log has the compiler's words.])])

    AS_CASE([$fsbml_version], [4.*], [], [
        AC_MSG_CHECKING([whether its interfaces are those that FSBML knows])
        fsbml_cflags_save=$CFLAGS
        CFLAGS="$CFLAGS -Werror=incompatible-pointer-types"
        AC_COMPILE_IFELSE([FSBML_INTERFACES], [AC_MSG_RESULT([yes])],
                          [AC_MSG_RESULT([no])
                           AC_MSG_ERROR([the BML or BTL interface of Open MPI $fsbml_version is not one that FSBML knows (it has been tried with 4.1, 5.0 and 6.0); config.log has the compiler's words, docs/porting.md says what to do.])])
        CFLAGS=$fsbml_cflags_save])
    AS_IF([test $fsbml_untried = yes],
          [AC_MSG_WARN([FSBML has not been tried with Open MPI $fsbml_version yet. Its interfaces look like those of 6.0: run 'make check', and compare a job's results before you rely on it.])])

    # ---- hwloc, by Open MPI's own header: without it, only the kernel is asked where a rail's device is

    AC_MSG_CHECKING([for the hwloc of Open MPI])
    m4_define([FSBML_HWLOC_PROGRAM], [AC_LANG_PROGRAM([FSBML_INTERNAL_HEADERS [
        #include "opal/mca/hwloc/base/base.h"
        #include "opal/mca/hwloc/hwloc-internal.h"]],
        [[hwloc_topology_t t = opal_hwloc_topology;
          return hwloc_topology_init(&t);]])])
    AC_COMPILE_IFELSE([FSBML_HWLOC_PROGRAM],
                      [AC_MSG_RESULT([yes])],
                      [FSBML_CPPFLAGS="$FSBML_CPPFLAGS -DFSBML_NO_HWLOC"
                       AC_MSG_RESULT([its headers do not compile; doing without])])
    AC_SUBST([FSBML_CPPFLAGS])

    # ---- hooks

    AC_MSG_CHECKING([whether this Open MPI has FSBML's base patches])
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([FSBML_INTERNAL_HEADERS
                          [#if !defined(MCA_BML_BASE_BTL_ARRAY_ELEMENT_SIZE) || \
                               !defined(MCA_BML_BASE_BTL_ARRAY_FIND_HOOK) || !defined(MCA_BML_BTL_FLAGS_KEEP_CONTEXT)
                           #error "not patched"
                           #endif]],
                          [mca_bml_base_btl_array_t *a = 0;
                           return mca_bml_base_btl_array_set_element_size(a, sizeof(mca_bml_base_btl_t));])],
                      [fsbml_hooks=patched
                       AC_MSG_RESULT([yes])],
                      [fsbml_hooks=stock
                       AC_MSG_RESULT([no, stock hooks])])
    fsbml_headers=$CPPFLAGS
    CPPFLAGS=$fsbml_cppflags_save

    # ---- how to link
    # By -Wl, so that libtool does not follow libmpi.la: needing libopen-pal by name would keep another version's Open MPI
    # from loading the component far enough for it to say what is wrong. Lazy binding for the same reason.
    fsbml_link=
    for fsbml_flag in `"$MPICC" --showme:link`; do
        AS_CASE([$fsbml_flag], [-L*|-lmpi], [fsbml_link="$fsbml_link,$fsbml_flag"])
    done
    FSBML_LDFLAGS="-Wl,-z,lazy -Wl,--push-state,--no-as-needed$fsbml_link,--pop-state"
    FSBML_MPI_LIBS=
    FSBML_TEST_LIBS=
    for fsbml_dir in `"$MPICC" --showme:libdirs`; do
        FSBML_TEST_LIBS="$FSBML_TEST_LIBS -L$fsbml_dir -Wl,-rpath,$fsbml_dir"
    done
    # What those need in turn is found, too: PMIx, and the libopen_mpi of 6.0.
    FSBML_TEST_LIBS="$FSBML_TEST_LIBS -Wl,--no-as-needed,--copy-dt-needed-entries,-lmpi,-lopen-pal"
    AS_CASE([$fsbml_version], [4.*], [FSBML_TEST_LIBS="$FSBML_TEST_LIBS,-lopen-rte"])
    # The component finds hwloc's functions beside Open MPI's when it calls them; the linker of a test wants their library.
    AS_CASE([$FSBML_CPPFLAGS], [*FSBML_NO_HWLOC*], [],
            [fsbml_libs_save=$LIBS
             CPPFLAGS=$fsbml_headers
             LIBS="$FSBML_TEST_LIBS $LIBS"
             AC_LINK_IFELSE([FSBML_HWLOC_PROGRAM], [], [FSBML_TEST_LIBS="$FSBML_TEST_LIBS -lhwloc"])
             LIBS=$fsbml_libs_save
             CPPFLAGS=$fsbml_cppflags_save])
    AC_SUBST([FSBML_LDFLAGS])
    AC_SUBST([FSBML_MPI_LIBS])
    AC_SUBST([FSBML_TEST_LIBS])

    # ---- where to install: the names that Open MPI's own tree has for these folders

    ompilibdir=$fsbml_pkglibdir
    ompidatadir=$fsbml_pkgdatadir
    AS_IF([test -n "$with_component_dir" && test "$with_component_dir" != yes && test "$with_component_dir" != no],
          [ompilibdir=$with_component_dir
           ompidatadir=$with_component_dir])
])
AC_SUBST([ompilibdir])
AC_SUBST([ompidatadir])
FSBML_CXX_LIBS=
AC_SUBST([FSBML_CXX_LIBS])
AM_CONDITIONAL([FSBML_SHIM], [test "$fsbml_hooks" != none])
AM_CONDITIONAL([FSBML_PATCHED], [test "$fsbml_hooks" = patched])
AM_CONDITIONAL([MCA_BUILD_ompi_bml_fsbml_DSO], [true])

AC_DEFUN([FSBML_SUMMARY], [
    AS_IF([test "$fsbml_hooks" = none],
          [fsbml_for="the core and its unit tests only"],
          [fsbml_for="the component for Open MPI $fsbml_version"])
    AC_MSG_NOTICE([FSBML builds $fsbml_for])
    AS_IF([test "$fsbml_hooks" != none],
          [AC_MSG_NOTICE([  hooks:       $fsbml_hooks])
           AC_MSG_NOTICE([  headers:     $fsbml_pkgincludedir])
           AC_MSG_NOTICE([  installs to: $ompilibdir])])
    AS_IF([test "$FSBML_HAVE_GTEST" = no], [AC_MSG_NOTICE([  make check:  not possible yet, GoogleTest is missing (Debian: libgtest-dev)])])
])
