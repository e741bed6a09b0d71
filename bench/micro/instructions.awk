# From callgrind's output to inclusive instructions a call, of the functions whose names match `wanted`.
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026      The FSBML developers. All rights reserved.
/^fn=/ || /^cfn=/ {
    text = $0; sub(/^c?fn=/, "", text)
    match(text, /^\([0-9]+\)/); id = substr(text, RSTART, RLENGTH)
    rest = substr(text, RLENGTH + 2)
    if (rest != "") name[id] = rest
    if ($0 ~ /^cfn=/) called = name[id]
    next
}
/^calls=/ { split($1, part, "="); calls[called] += part[2]; getline; cost[called] += $2; next }
END {
    for (function_name in calls)
        if (function_name ~ wanted) printf "%-24s %6.1f instructions a call (%d calls)\n", function_name, cost[function_name] / calls[function_name], calls[function_name]
}
