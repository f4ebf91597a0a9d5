// The part <data> of a description: parameters, layouts, variables, meshes and groups of these.
#pragma once

#include "damaris/xml/element.hpp"
#include "damaris/xml/model.hpp"

namespace tailrace::damaris {

// `to` has the stores already. `fortran`: dimensions are given with the fastest one first.
void read_data(const Element& data, bool fortran, Model& to);

// Returns true if the element's `language` is Fortran; `otherwise` if it has none.
bool read_language(const Element& element, bool otherwise);

}  // namespace tailrace::damaris
