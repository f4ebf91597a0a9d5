// netCDF4's wheel names the folder of its filters in HDF5_PLUGIN_PATH when it is imported, unless that variable is
// set. With the connector it always is, as HDF5 finds this plugin by it.
#pragma once

#include "hdf5_vol/host/host.hpp"

namespace tailrace::hdf5 {

// Returns the folder that has the filters for this library: if it is that of netCDF4's wheel; else "".
std::string wheel_filters_of(const std::string& library);

// Has HDF5 look for filters in that folder, unless it already does. Call it before a file is opened: the netCDF
// library sets the folders anew, from the variable, after it has initialised HDF5.
void find_wheel_filters(const Host& host);

}  // namespace tailrace::hdf5
