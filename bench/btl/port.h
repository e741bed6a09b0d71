// Open MPI's BTLs as plain data and functions, for C++: Open MPI's internal headers are C only. Decides
// nothing and waits for nothing. For use between MPI_Init and MPI_Finalize, by one thread.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#ifndef FSBML_BENCH_BTL_PORT_H
#define FSBML_BENCH_BTL_PORT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PORT_NAME_MAX = 64, PORT_MAX_RANKS = 112 };

typedef struct port_peer_t port_peer_t;     // a peer, as one BTL reaches it
typedef struct port_layout_t port_layout_t; // pieces of a message in memory, at equal distances

typedef struct port_entry_t {
    char name[PORT_NAME_MAX]; // of the BTL's component
    size_t eager_limit;       // bytes
    size_t max_send_size;     // bytes of the largest message
    int immediate;            // whether it has btl_sendi
    int event_driven;         // whether all it does comes from the event library, so that progress can block
} port_entry_t;

// What became of a message.
enum {
    PORT_TAKEN,  // the BTL has it
    PORT_BUSY,   // not taken for want of something that progress may bring
    PORT_FAILED, // not taken; port_error() says why
};

// Registers for messages of this program from all ranks of MPI_COMM_WORLD. Returns NULL, or why it cannot.
// No rank may send before all ranks have done it.
const char *port_start(int ranks);

// BTLs by which a rank of MPI_COMM_WORLD is reached: the entries of its BML endpoint's btl_send.
int port_entries(int rank);
// One of them (0 is the first). NULL if there is none, or no memory.
port_peer_t *port_connect(int rank, int entry, port_entry_t *about);
void port_disconnect(port_peer_t *peer);

// `callback`: ask for a completion callback in every case. All return what became of the message.
// By a descriptor of the BTL's, into which the data is copied.
int port_send(port_peer_t *peer, const void *data, size_t bytes, int callback);
// From the user's memory (prepare_src); layout NULL: in one piece. The memory must stay until nothing is
// pending.
int port_send_memory(port_peer_t *peer, const void *memory, const port_layout_t *layout, size_t bytes,
                     int callback);
// By btl_sendi, which the BTL must have.
int port_send_immediate(port_peer_t *peer, const void *memory, size_t bytes);

// `pieces` of `piece` bytes each, one every `distance` bytes. NULL if that cannot be had.
port_layout_t *port_layout(int pieces, int piece, int distance);
void port_layout_free(port_layout_t *layout);

void port_progress(void);
// From now on, progress waits for an event if there is none (1), or is again as MPI has it (0).
void port_block(int on);

uint64_t port_pending(void);   // sends that are not complete
uint64_t port_callbacks(void); // completion callbacks so far
uint64_t port_failures(void);  // of them, with an error
const char *port_error(void);  // the last error

// Messages and bytes from a rank so far.
uint64_t port_messages(int rank);
uint64_t port_bytes(int rank);
// Copies the next `slots` messages from a rank to memory + n * slot, at most `slot` bytes each; lengths[n]
// gets the real length. NULL: no more.
void port_keep(int rank, unsigned char *memory, size_t slot, size_t slots, size_t *lengths);

#ifdef __cplusplus
}
#endif

#endif
