# Copyright (c) 2026      The FSBML developers. All rights reserved.
# SPDX-License-Identifier: BSD-3-Clause
"""Spack's recipe of FSBML. For a repository of your own:

    spack repo create my && mkdir -p my/packages/openmpi_bml_fsbml && cp package.py my/packages/openmpi_bml_fsbml/
    spack repo add my

Then, in the folder with the tarball that `make dist` has made: spack install --no-checksum openmpi-bml-fsbml ^openmpi@5.0.7

Spack builds Open MPI without its internal headers, and has no variant for them, so they are taken from the source of the same
release. The recipe was tried with Spack 0.23 (in development), which lacks what came with 1.0: the import from spack_repo and the
dependencies on c and cxx were left out. Open MPI 4.1.4 of Debian was an external package. It was audited without a finding,
concretized, fetched and staged, and its build had proved that the headers fit when it was stopped; not yet installed.
"""

import glob
import os

from spack.package import *
from spack_repo.builtin.build_systems.generic import Package

# The releases that FSBML can be built for, with the checksums of their tarballs.
OPENMPI = {
    "5.0.8": "53131e1a57e7270f645707f8b0b65ba56048f5b5ac3f68faabed3eb0d710e449",
    "5.0.7": "119f2009936a403334d0df3c0d74d5595a32d99497f9b1d41e90019fee2fc2dd",
    "5.0.6": "bd4183fcbc43477c254799b429df1a6e576c042e74a2d2f8b37d537b2ff98157",
    "5.0.5": "6588d57c0a4bd299a24103f4e196051b29e8b55fbda49e11d5b3d32030a32776",
    "4.1.8": "466f68e3132a1dc02710cc2011fafced8336d98359fa2dae4dddcfd5719f12a9",
    "4.1.7": "54a33cb7ad81ff0976f15a6cc8003c3922f0f3d8ceed14e1813ef3603f22cd34",
    "4.1.6": "f740994485516deb63b5311af122c265179f5328a0d857a567b85db00b11e415",
    "4.1.5": "a640986bc257389dd379886fdae6264c8cfa56bc98b71ce3ae3dfbd8ce61dbe3",
    "4.1.4": "92912e175fd1234368c8730c03f4996fe5942e7479bb1d10059405e7f2b3930d",
}


class OpenmpiBmlFsbml(Package):
    """Multi-rail scheduler for Open MPI: measures all networks of a node when MPI starts, and sends each message over the one
    that will deliver it first. Used by jobs that ask for it: mpirun --mca pml ob1 --mca bml fsbml."""

    manual_download = True
    url = f"file://{os.getcwd()}/fsbml-0.1.0.tar.gz"

    license("BSD-3-Clause")

    version("0.1.0")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("autoconf", type="build")
    depends_on("automake", type="build")
    depends_on("libtool", type="build")
    depends_on("gmake", type="build")
    depends_on("perl", type="build")
    depends_on("openmpi@" + ",".join(f"={release}" for release in OPENMPI))

    for release, checksum in OPENMPI.items():
        resource(
            name=f"openmpi-{release}",
            url="https://download.open-mpi.org/release/open-mpi/"
            f"v{release.rpartition('.')[0]}/openmpi-{release}.tar.bz2",
            sha256=checksum,
            destination="",
            placement="openmpi-source",
            when=f"^openmpi@={release}",
        )

    @property
    def components(self):
        """Where the component is. Not in Open MPI's own folder, which is another package's."""
        return join_path(self.prefix.lib, "openmpi")

    def setup_build_environment(self, env):
        env.set("FSBML_BUILD", join_path(self.stage.source_path, "built"))
        env.set("FSBML_CACHE", join_path(self.stage.source_path, "cache"))

    def install(self, spec, prefix):
        # Proves that the headers fit the installed libraries, and that Open MPI's loader takes the component.
        source = join_path(self.stage.source_path, "openmpi-source")
        Executable("./fsbml")("build", "--openmpi", spec["openmpi"].prefix, "--source", source)
        mkdirp(self.components, prefix.share.man.man7)
        # The component finds its texts beside itself.
        for file in glob.glob("built/stock-*/component/*"):
            install(file, self.components)
        install("docs/man/fsbml.7", prefix.share.man.man7)

    def setup_run_environment(self, env):
        env.set("OMPI_MCA_mca_base_component_path", f"{self.components}:SYS_DEFAULT:USER_DEFAULT")
