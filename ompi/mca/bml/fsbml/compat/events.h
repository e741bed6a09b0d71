/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * How Open MPI's progress engine watches connections (compat/events.c).
 */
#ifndef MCA_BML_FSBML_EVENTS_H
#define MCA_BML_FSBML_EVENTS_H

#include "compat/compat.h"

/** By "poll" or "epoll" from here on; before BTLs are selected. False: nothing was changed, as the user has
 * named a way, or as it cannot be changed here, or is so already. */
bool fsbml_events_watch(const char *by);
/** Once BTLs are selected: where connections are watched by poll, sockets that listen are looked at seldom.
 */
void fsbml_events_set_aside(void);
/** When the component goes; what Open MPI has got stays with it. */
void fsbml_events_close(void);

/** The progress engine is to look at connections in each turn, or need not any more. */
void fsbml_events_look(bool always);

#endif /* MCA_BML_FSBML_EVENTS_H */
