// rocrand.h without its folder, as some programs include it.
#pragma once

#include <rocrand/rocrand.h>  // IWYU pragma: export
