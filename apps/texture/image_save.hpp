// save_image: writes the image that is analysed as a .npy file, for programs that show it beside the results.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "image.hpp"

namespace texture {

// Writes float32, channels × rows × columns. `channels`: of each the block with its halo, as
// read_with_halo() returns it. Collective; the file must not exist. Throws Error.
void save_image(const std::string& file, const ImageShape& shape, const Block& block,
                std::span<const std::vector<float>> channels, long halo);

}  // namespace texture
