// hiprand.h without its folder, as some programs include it.
#pragma once

#include <hiprand/hiprand.h>  // IWYU pragma: export
