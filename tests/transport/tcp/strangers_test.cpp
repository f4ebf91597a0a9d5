// Strangers: connections of those who have no key.
#include <gtest/gtest.h>

#include "transport_rig.hpp"
