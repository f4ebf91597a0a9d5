// save_image: writes the image that is analysed as a .npy file, for programs that show it beside the results.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "image.hpp"

namespace texture {

// Writes float32, channels × rows × columns. `channels`: of each the rows of `block` with `halo` rows above and
// below, as read_with_halo() returns them. Collective; the file must not exist. Throws Error.
void save_image(const std::string& file, const ImageShape& shape, const Block& block,
                std::span<const std::vector<float>> channels, long halo);

}  // namespace texture
