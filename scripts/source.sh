# Obtains the source of an Open MPI: the reference's from Debian's archive, or what the user has. Sourced after openmpi.sh.
# shellcheck shell=bash
#
#   source_fetch            prints the path of the release's tarball in the cache; downloads it the first time
#   source_unpack FROM TO VERSION WHY   fills the new folder TO with the source in FROM, a tarball or a folder, and checks that
#                           it is of that version; WHY is the error's end, up to the version

FSBML_SOURCE_SUITE=trixie

# debian_entry: prints URI and Signed-By (one line each, the second may be empty) of the machine's own Debian source entry.
# Both forms: one-line files, and deb822 stanzas with a Signed-By that names a file.
debian_entry() {
    local dir=${FSBML_APT_DIR:-/etc/apt} file
    for file in "$dir"/sources.list.d/*.sources; do
        [ -f "$file" ] || continue
        awk '
            function flush() {
                n = split(uris, u, " ")
                for (i = 1; i <= n; i++)
                    if (types ~ /(^| )deb( |$)/ && (" " components " ") ~ / main / && u[i] ~ /\/debian(\/[0-9TZ]+)?\/?$/) {
                        print u[i]; print key; found = 1; exit
                    }
                types = uris = components = key = ""
            }
            /^[[:space:]]*$/ { flush(); next }
            /^#/ { next }
            {
                value = $0; sub(/^[^:]*:[[:space:]]*/, "", value)
                name = tolower($0); sub(/:.*/, "", name)
                if (name == "types") types = value
                else if (name == "uris") uris = value
                else if (name == "components") components = value
                else if (name == "signed-by") key = value
            }
            END { if (!found) flush() }
        ' "$file"
    done | head -n 2 | grep . && return 0
    for file in "$dir"/sources.list "$dir"/sources.list.d/*.list; do
        [ -f "$file" ] || continue
        awk '
            $1 == "deb" {
                key = ""; i = 2
                if ($2 ~ /^\[/) {
                    while (i <= NF) {
                        option = $i; gsub(/[][]/, "", option)
                        if (option ~ /^signed-by=/) { key = option; sub(/^signed-by=/, "", key) }
                        if ($(i++) ~ /\]$/) break
                    }
                }
                if ($i ~ /\/debian(\/[0-9TZ]+)?\/?$/ && (" " $0 " ") ~ / main /) { print $i; print key; exit }
            }
        ' "$file"
    done | head -n 2 | grep .
}

source_fetch() {
    local dir=$FSBML_CACHE/source version=$FSBML_REFERENCE_VERSION tarball entry uri key apt log offered
    tarball=$dir/openmpi_$version.orig.tar.xz
    if [ -f "$tarball" ]; then
        printf '%s\n' "$tarball"
        return 0
    fi
    have apt-get || die "this system has no apt-get to obtain the source of Open MPI $version with; download its tarball and name it with --source."
    entry=$(debian_entry) ||
        die "no source entry for Debian's archive was found in /etc/apt to derive one for the source of Open MPI $version from; download its tarball and name it with --source."
    uri=${entry%%$'\n'*}
    key=${entry#"$uri"}
    key=${key#$'\n'}

    # A list and a state of its own: the system's sources stay as they are.
    apt=$dir/apt log=$dir/apt.log
    rm -rf "$apt"
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/get"
    {
        printf 'Types: deb-src\nURIs: %s\nSuites: %s\nComponents: main\n' "$uri" "$FSBML_SOURCE_SUITE"
        [ -z "$key" ] || printf 'Signed-By: %s\n' "$key"
    } >"$apt/fsbml.sources"
    local options=(-q -o "Dir::Etc::SourceList=$apt/fsbml.sources" -o "Dir::Etc::SourceParts=/dev/null"
        -o "Dir::State::Lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o "APT::Sandbox::User=$(id -un)"
        -o "Acquire::Languages=none")
    logged "$log" "reading the list of source packages of Debian $FSBML_SOURCE_SUITE" apt-get "${options[@]}" update ||
        die "the list of source packages at $uri could not be read; is the network there? The log is $log. A tarball of your own can be named with --source."
    offered=$(apt-cache "${options[@]}" showsrc openmpi 2>>"$log" | sed -n 's/^Version: \([0-9.]*\)-.*/\1/p' | sort -V | tail -n 1)
    [ "$offered" = "$version" ] ||
        die "Debian $FSBML_SOURCE_SUITE offers Open MPI '${offered:-none}', but the base patches are for $version; download its tarball and name it with --source."
    (cd "$apt/get" && logged "$log" "downloading the source of Open MPI $version" \
        apt-get "${options[@]}" source --download-only --only-source openmpi) ||
        die "the source of Open MPI $version could not be downloaded; the log is $log"
    [ -f "$apt/get/${tarball##*/}" ] || die "the download did not bring ${tarball##*/}; the log is $log"
    mv -- "$apt/get/${tarball##*/}" "$tarball"
    rm -rf "$apt"
    printf '%s\n' "$tarball"
}

is_openmpi_source() { [ -f "$1/VERSION" ] && [ -f "$1/ompi/mca/bml/bml.h" ]; }

source_unpack() {
    local from=$1 to=$2 version
    mkdir -p "$to"
    if [ -d "$from" ]; then
        is_openmpi_source "$from" || die "$from is not a source tree of Open MPI."
        (cd "$from" && tar -cf - --exclude=./.git --exclude='*.o' --exclude='*.lo' --exclude=.libs .) | tar -xf - -C "$to" ||
            die "the source tree $from could not be copied to $to."
    elif [ -f "$from" ]; then
        tar -xf "$from" -C "$to" --strip-components=1 2>/dev/null || die "$from is not a tarball that tar can unpack, or it is damaged."
        is_openmpi_source "$to" || die "$from is not a source tarball of Open MPI."
    else
        die "there is no source tree or tarball $from."
    fi
    version=$(sed -n 's/^\(major\|minor\|release\)=//p' "$to/VERSION" | paste -sd .)$(sed -n 's/^greek=//p' "$to/VERSION")
    [ "$version" = "$3" ] || die "$from is Open MPI $version, but $4 $3."
}
