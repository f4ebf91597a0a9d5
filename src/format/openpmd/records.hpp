// Writes the attributes by which openPMD 1.1 describes records: meshes, vectors of meshes, and particles.
//
// The caller holds LibraryLock. Each function returns false if HDF5 failed.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <vector>

#include "format/openpmd/handle.hpp"
#include "format/openpmd/patch.hpp"
#include "model/declarations.hpp"

namespace tailrace::impl {

// Writes what belongs to a whole record: to the dataset of a scalar, or to the group of a vector. `offset`: where the
// dataset begins in the whole array.
bool describe_record(hid_t object, const Variable& variable, const Layout& layout,
                     const std::vector<uint64_t>& offset);
// Writes what belongs to each component, also to a scalar's.
bool describe_component(hid_t dataset, const Variable& variable, const Layout& layout,
                        const std::vector<uint64_t>& offset);

// Creates a group without times, so that two images of one plan have the same bytes.
Handle create_group(hid_t parent, const std::string& name);

// Writes a constant record below the group of its species, for `count` particles.
bool put_constant(hid_t species, const ConstantRecord& record, uint64_t count);

// Returns the constant records of a species: the configuration's, and zeros for positionOffset, which openPMD
// requires beside `position`.
std::vector<ConstantRecord> constants_of(const Declarations& declared, const std::string& species);

// Writes which client has which particles of a species, and where they are: the group particlePatches.
bool put_patches(hid_t species, const Declarations& declared, const std::string& name,
                 const ParticlePatches& patches);

}  // namespace tailrace::impl
