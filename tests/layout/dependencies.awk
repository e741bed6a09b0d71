# Copyright (c) 2026      The FSBML developers. All rights reserved.
# SPDX-License-Identifier: BSD-3-Clause
#
# Which file uses what another one defines, and whether that is allowed. Reads, in this order:
#   rooms      ROOM FOLDER, the lowest room first
#   allowed    'up FILE FILE' (the first uses the second, which is in a higher room), 'circle FILE FILE ...' (by the alphabet)
#   symbols    FILE TYPE SYMBOL, as nm has them; FILE is a source without its suffix, relative to the rooms' folders;
#              FILE include HEADER, with their suffixes: what a header has is inlined, and nm does not see it. A header of the core
#              is of one file. One of the shim is of a room, and is no evidence that files use each other.
# Prints a line for each fault; the exit status is 1 if there is one. An entry of the allowed that is not needed is a fault, too.

/^#/ || NF == 0 { next }

part == "rooms" {
    level[$2] = ++n_rooms
    name[$2] = $1
    next
}

part == "allowed" {
    key = $1
    for (i = 2; i <= NF; ++i) key = key " " $i
    allowed[key] = 1
    next
}

$2 == "include" {
    from = node($1)
    to = node($3)
    if ((room[from] in level) && level[room[to]] > level[room[from]])
        fault($1 " (" name[room[from]] ") includes a header of " name[room[to]])
    if ($3 ~ /^core\//) includes[from, ++n_includes[from]] = to
    next
}

{
    a = node($1)
    # Inline functions are defined wherever they are used (weak): they are their header's.
    if ($2 ~ /^[TDBRS]$/) owner[$3] = a
    else if ($2 == "U") uses[a, ++n_uses[a]] = $3
}

# A source and its header are one.
function node(path,   folder) {
    sub(/\.[a-z]+$/, "", path)
    if (path in index_of) return index_of[path]
    file[++n] = path
    folder = path
    if (!sub(/\/[^\/]*$/, "", folder)) folder = "."
    if (!(folder in level)) fault(path " is in no room")
    room[n] = folder
    return index_of[path] = n
}

function fault(text) {
    print text
    faults = 1
}

# Tarjan's algorithm: files that reach each other.
function visit(v,   i, w, members, m, group) {
    number[v] = low[v] = ++visited
    stack[++depth] = v
    on_stack[v] = 1
    for (i = 1; i <= n_edges[v]; ++i) {
        w = edge[v, i]
        if (!(w in number)) {
            visit(w)
            if (low[w] < low[v]) low[v] = low[w]
        } else if (on_stack[w] && number[w] < low[v]) {
            low[v] = number[w]
        }
    }
    if (low[v] != number[v]) return
    m = 0
    do {
        w = stack[depth--]
        on_stack[w] = 0
        member[++m] = file[w]
    } while (w != v)
    if (m > 1) {
        sort_members(m)
        group = "circle"
        for (i = 1; i <= m; ++i) group = group " " member[i]
        if (group in allowed) needed[group] = 1
        else fault("files that use each other: " substr(group, 8))
    }
}

function sort_members(m,   i, j, swap) {
    for (i = 2; i <= m; ++i)
        for (j = i; j > 1 && member[j] < member[j - 1]; --j) {
            swap = member[j]
            member[j] = member[j - 1]
            member[j - 1] = swap
        }
}

END {
    if (n == 0) fault("there are no objects")
    for (a = 1; a <= n; ++a) {
        for (i = 1; i <= n_uses[a]; ++i) {
            symbol = uses[a, i]
            b = symbol in owner ? owner[symbol] : 0
            if (b == 0 || b == a) continue
            if (!((a, b) in symbols)) edge[a, ++n_edges[a]] = b
            symbols[a, b] = symbols[a, b] " " symbol
        }
    }
    for (a = 1; a <= n; ++a)
        for (i = 1; i <= n_edges[a]; ++i) {
            b = edge[a, i]
            if (level[room[b]] <= level[room[a]]) continue
            key = "up " file[a] " " file[b]
            ++n_up
            if (key in allowed) needed[key] = 1
            else fault(file[a] " (" name[room[a]] ") calls up into " file[b] " (" name[room[b]] "):" symbols[a, b])
        }
    for (a = 1; a <= n; ++a)
        for (i = 1; i <= n_includes[a]; ++i) {
            b = includes[a, i]
            if (a != b && !((a, b) in symbols)) edge[a, ++n_edges[a]] = b
        }
    for (a = 1; a <= n; ++a)
        if (!(a in number)) visit(a)
    for (key in allowed)
        if (!(key in needed)) fault("allowed, and not there any more: " key)
    exit faults
}
