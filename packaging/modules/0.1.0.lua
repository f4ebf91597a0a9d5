-- A module for Lmod: modulefiles/tailrace/0.1.0.lua. `prefix` is that of `cmake --install`.
local prefix = "/opt/tailrace"

help([[tailrace carries a program's output off its critical path. Unchanged HDF5 programs: tailrace-run -- PROGRAM]])
whatis("Name: tailrace")
whatis("Version: 0.1.0")
whatis("Description: carries a program's output off its critical path, into openPMD/HDF5 files")

prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("LD_LIBRARY_PATH", pathJoin(prefix, "lib"))
prepend_path("CMAKE_PREFIX_PATH", prefix)
prepend_path("PKG_CONFIG_PATH", pathJoin(prefix, "lib/pkgconfig"))
prepend_path("MANPATH", pathJoin(prefix, "share/man"))
-- HDF5 finds the connector here; it is used only where HDF5_VOL_CONNECTOR says so, as tailrace-run does.
prepend_path("HDF5_PLUGIN_PATH", pathJoin(prefix, "lib/hdf5/plugin"))
