# -*- shell-script -*-
# Copyright (c) 2026      The FSBML developers. All rights reserved.
# SPDX-License-Identifier: BSD-3-Clause
#
# Read by two: Open MPI's autogen.pl, when this folder lies in its source tree, and FSBML's own configure.m4.

# FSBML_CXX17([action-if-yes], [action-if-no])
# ---------------------------------------------
# Is there a C++17 compiler, and with which flags? Sets FSBML_CXXFLAGS (before the user's CXXFLAGS, which so win).
AC_DEFUN([FSBML_CXX17], [
    fsbml_cxx17_flag=no
    AS_IF([test -n "$CXX" && test "$CXX" != "no"],
          [AC_LANG_PUSH([C++])
           AC_MSG_CHECKING([for the flag that makes $CXX a C++17 compiler])
           fsbml_cxxflags_save=$CXXFLAGS
           for fsbml_flag in "" -std=gnu++17 -std=c++17 -std=gnu++1z; do
               CXXFLAGS="$fsbml_cxxflags_save $fsbml_flag"
               AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
                   #include <optional>
                   #if __cplusplus < 201703L
                   #error "not C++17"
                   #endif
                   template <class... T> constexpr auto sum(T... t) { return (t + ... + 0); }
                   ]], [[
                   if constexpr (sum(1, 2) == 3) { std::optional<int> o{1}; return o.value_or(0) - 1; }
                   ]])], [fsbml_cxx17_flag=$fsbml_flag])
               test "$fsbml_cxx17_flag" = no || break
           done
           CXXFLAGS=$fsbml_cxxflags_save
           AS_CASE([$fsbml_cxx17_flag],
                   [no], [AC_MSG_RESULT([there is none])],
                   [""], [AC_MSG_RESULT([none needed])],
                   [AC_MSG_RESULT([$fsbml_cxx17_flag])])
           AC_LANG_POP([C++])])
    FSBML_CXXFLAGS="$fsbml_cxx17_flag -g -O2 -Wall -Wextra -fvisibility=hidden -fvisibility-inlines-hidden -pthread"
    AC_SUBST([FSBML_CXXFLAGS])
    AS_IF([test "$fsbml_cxx17_flag" != no], [$1], [$2])
])

# FSBML_CXX_RUNTIME
# -----------------
# The library that a C linker needs for C++ objects: for an Open MPI that has the component inside of libmpi.
AC_DEFUN([FSBML_CXX_RUNTIME], [
    AC_MSG_CHECKING([for the C++ run-time library])
    FSBML_CXX_LIBS=
    fsbml_libs_save=$LIBS
    for fsbml_lib in -lstdc++ -lc++; do
        LIBS="$fsbml_libs_save $fsbml_lib"
        AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [FSBML_CXX_LIBS=$fsbml_lib])
        test -z "$FSBML_CXX_LIBS" || break
    done
    LIBS=$fsbml_libs_save
    AC_MSG_RESULT([${FSBML_CXX_LIBS:-unknown}])
    AC_SUBST([FSBML_CXX_LIBS])
])

# FSBML_EXPORTS
# -------------
# How to have the DSO export its component structure and nothing else. libtool's -export-symbols has no effect with GNU's
# linker when the C++ compiler links.
AC_DEFUN([FSBML_EXPORTS], [
    AC_MSG_CHECKING([whether the linker takes version scripts])
    echo '{ global: main; local: *; };' >conftest.map
    fsbml_ldflags_save=$LDFLAGS
    LDFLAGS="$LDFLAGS -Wl,--version-script=conftest.map"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
                   [FSBML_EXPORT_LDFLAGS='-Wl,--version-script=$(srcdir)/bml_fsbml.map'
                    AC_MSG_RESULT([yes])],
                   [FSBML_EXPORT_LDFLAGS="-export-symbols-regex '^mca_bml_fsbml_component\$\$'"
                    AC_MSG_RESULT([no])])
    LDFLAGS=$fsbml_ldflags_save
    rm -f conftest.map
    AC_SUBST([FSBML_EXPORT_LDFLAGS])
])

# FSBML_CXX_INSIDE
# ----------------
# How the component is linked: where that works, by the C compiler with the static C++ run-time library inside. The shared one
# takes some 0.9 MB of each process that would not have it otherwise, and a program may have brought another version. Not with
# sanitizers, which bring operators new and delete of their own; and only where a version script hides what is inside.
AC_DEFUN([FSBML_CXX_INSIDE], [
    AC_REQUIRE([FSBML_EXPORTS])
    AC_MSG_CHECKING([whether the C++ run-time library can be inside of the component])
    fsbml_inside="-l:libstdc++.a -lm"
    fsbml_can=no
    fsbml_cxxflags_save=$CXXFLAGS
    CXXFLAGS="$CXXFLAGS -fPIC"
    AC_LANG_PUSH([C++])
    AS_CASE(["$FSBML_EXPORT_LDFLAGS $CFLAGS $CXXFLAGS $LDFLAGS"],
            [*-fsanitize*], [],
            [-Wl,--version-script*],
            [AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
                 #include <string>
                 int number(const char *text)
                 {
                     try { return std::stoi(text); } catch (...) { return -1; }
                 }
                 ]])],
                 [AS_IF([$CC $CFLAGS $LDFLAGS -shared -fPIC -static-libgcc -o conftest.so conftest.$ac_objext $fsbml_inside \
                             -Wl,--gc-sections,-z,defs >&AS_MESSAGE_LOG_FD 2>&1],
                        [fsbml_can=yes])
                  rm -f conftest.so])])
    AC_LANG_POP([C++])
    CXXFLAGS=$fsbml_cxxflags_save
    AC_MSG_RESULT([$fsbml_can])
    AS_IF([test $fsbml_can = yes],
          [FSBML_LINKER='--tag=CC --mode=link $(CC) $(CFLAGS) -Wc,-static-libgcc -Wl,--gc-sections'
           FSBML_DSO_CXX_LIBS=$fsbml_inside],
          [FSBML_LINKER='--tag=CXX --mode=link $(CXX) $(CXXFLAGS)'
           FSBML_DSO_CXX_LIBS=])
    AC_SUBST([FSBML_LINKER])
    AC_SUBST([FSBML_DSO_CXX_LIBS])
])

# MCA_ompi_bml_fsbml_POST_CONFIG(will_build)
# ------------------------------------------
# Conditionals are made here, since the next macro is left out for a component that is switched off.
AC_DEFUN([MCA_ompi_bml_fsbml_POST_CONFIG], [
    AS_IF([test "$1" = "1"], [OMPI_REQUIRE_ENDPOINT_TAG([BML])])
    AM_CONDITIONAL([FSBML_SHIM], [test "$1" = "1"])
    AM_CONDITIONAL([FSBML_PATCHED], [test "$fsbml_hooks" = patched])
])dnl

# MCA_ompi_bml_fsbml_CONFIG(action-if-can-compile, [action-if-cant-compile])
# --------------------------------------------------------------------------
AC_DEFUN([MCA_ompi_bml_fsbml_CONFIG], [
    AC_CONFIG_FILES([ompi/mca/bml/fsbml/Makefile])

    # opal_config.h is not there yet, so the base patches are looked for in the text.
    AC_MSG_CHECKING([whether this tree has FSBML's base patches])
    fsbml_hooks=patched
    for fsbml_macro in MCA_BML_BASE_BTL_ARRAY_ELEMENT_SIZE MCA_BML_BASE_BTL_ARRAY_FIND_HOOK \
                       MCA_BML_BTL_FLAGS_KEEP_CONTEXT; do
        grep "define $fsbml_macro" "$srcdir/ompi/mca/bml/bml.h" >/dev/null || fsbml_hooks=stock
    done
    AS_IF([test $fsbml_hooks = patched], [AC_MSG_RESULT([yes])], [AC_MSG_RESULT([no, stock hooks])])

    FSBML_CPPFLAGS=
    FSBML_LDFLAGS=
    FSBML_MPI_LIBS='$(top_builddir)/ompi/lib$(OMPI_LIBMPI_NAME).la'
    AC_SUBST([FSBML_CPPFLAGS])
    AC_SUBST([FSBML_LDFLAGS])
    AC_SUBST([FSBML_MPI_LIBS])
    FSBML_CXX_RUNTIME
    FSBML_EXPORTS
    FSBML_CXX_INSIDE
    FSBML_CXX17([$1],
                [AC_MSG_WARN([FSBML needs a C++17 compiler])
                 $2])
])dnl
