// <hip/hip_math_constants.h>: the HIP installation's own where it has one (HIP 5.5 and later),
// otherwise ours. Names ending in _F are float, others double; a pair _HI and _LO adds up to more
// digits than one number holds.
// Source of the names: the HIP API reference, hip_math_constants.h; they mirror CUDA's CUDART_*.
#pragma once

#if __has_include_next(<hip/hip_math_constants.h>)
#include_next <hip/hip_math_constants.h>
#else

// Bits, so that they are the same on host and device and may initialise constants.
#define HIP_INF_F __builtin_bit_cast(float, 0x7f800000u)
#define HIP_NAN_F __builtin_bit_cast(float, 0x7fffffffu)
#define HIP_MIN_DENORM_F __builtin_bit_cast(float, 0x00000001u)
#define HIP_MAX_NORMAL_F __builtin_bit_cast(float, 0x7f7fffffu)
#define HIP_NEG_ZERO_F __builtin_bit_cast(float, 0x80000000u)
#define HIP_ZERO_F 0.0F
#define HIP_ONE_F 1.0F
#define HIP_SQRT_HALF_F 0.707106781F
#define HIP_SQRT_HALF_HI_F 0.707106781F
#define HIP_SQRT_HALF_LO_F 1.210161749e-08F
#define HIP_SQRT_TWO_F 1.414213562F
#define HIP_THIRD_F 0.333333333F
#define HIP_PIO4_F 0.785398163F
#define HIP_PIO2_F 1.570796327F
#define HIP_3PIO4_F 2.356194490F
#define HIP_2_OVER_PI_F 0.636619772F
#define HIP_SQRT_2_OVER_PI_F 0.797884561F
#define HIP_PI_F 3.141592654F
#define HIP_L2E_F 1.442695041F
#define HIP_L2T_F 3.321928095F
#define HIP_LG2_F 0.301029996F
#define HIP_LGE_F 0.434294482F
#define HIP_LN2_F 0.693147181F
#define HIP_LNT_F 2.302585093F
#define HIP_LNPI_F 1.144729886F
#define HIP_TWO_TO_M126_F 0x1p-126F
#define HIP_TWO_TO_126_F 0x1p126F
#define HIP_NORM_HUGE_F 3.402823466e38F
#define HIP_TWO_TO_23_F 8388608.0F
#define HIP_TWO_TO_24_F 16777216.0F
#define HIP_TWO_TO_31_F 2147483648.0F
#define HIP_TWO_TO_32_F 4294967296.0F
#define HIP_REMQUO_BITS_F 3U
#define HIP_REMQUO_MASK_F (~((~0U) << HIP_REMQUO_BITS_F))
#define HIP_TRIG_PLOSS_F 105615.0F

#define HIP_INF __builtin_bit_cast(double, 0x7ff0000000000000ull)
#define HIP_NAN __builtin_bit_cast(double, 0xfff8000000000000ull)
#define HIP_NEG_ZERO __builtin_bit_cast(double, 0x8000000000000000ull)
#define HIP_MIN_DENORM __builtin_bit_cast(double, 0x0000000000000001ull)
#define HIP_ZERO 0.0
#define HIP_ONE 1.0
#define HIP_SQRT_TWO 1.4142135623730951e+00
#define HIP_SQRT_HALF 7.0710678118654757e-01
#define HIP_SQRT_HALF_HI HIP_SQRT_HALF
#define HIP_SQRT_HALF_LO (-4.8336466567264567e-17)
#define HIP_THIRD 3.3333333333333331e-01
#define HIP_TWOTHIRD 6.6666666666666663e-01
#define HIP_PIO4 7.8539816339744828e-01
#define HIP_PIO4_HI HIP_PIO4
#define HIP_PIO4_LO 3.0616169978683830e-17
#define HIP_PIO2 1.5707963267948966e+00
#define HIP_PIO2_HI HIP_PIO2
#define HIP_PIO2_LO 6.1232339957367660e-17
#define HIP_3PIO4 2.3561944901923448e+00
#define HIP_2_OVER_PI 6.3661977236758138e-01
#define HIP_PI 3.1415926535897931e+00
#define HIP_PI_HI HIP_PI
#define HIP_PI_LO 1.2246467991473532e-16
#define HIP_SQRT_2PI 2.5066282746310007e+00
#define HIP_SQRT_2PI_HI HIP_SQRT_2PI
#define HIP_SQRT_2PI_LO (-1.8328579980459167e-16)
#define HIP_SQRT_PIO2 1.2533141373155003e+00
#define HIP_SQRT_PIO2_HI HIP_SQRT_PIO2
#define HIP_SQRT_PIO2_LO (-9.1642899902295834e-17)
#define HIP_SQRT_2OPI 7.9788456080286541e-01
#define HIP_L2E 1.4426950408889634e+00
#define HIP_L2E_HI HIP_L2E
#define HIP_L2E_LO 2.0355273740931033e-17
#define HIP_L2T 3.3219280948873622e+00
#define HIP_LG2 3.0102999566398120e-01
#define HIP_LG2_HI HIP_LG2
#define HIP_LG2_LO (-2.8037281277851704e-18)
#define HIP_LGE 4.3429448190325182e-01
#define HIP_LGE_HI HIP_LGE
#define HIP_LGE_LO 1.0983196502167651e-17
#define HIP_LN2 6.9314718055994529e-01
#define HIP_LN2_HI HIP_LN2
#define HIP_LN2_LO 2.3190468138462996e-17
#define HIP_LNT 2.3025850929940459e+00
#define HIP_LNT_HI HIP_LNT
#define HIP_LNT_LO (-2.1707562233822494e-16)
#define HIP_LNPI 1.1447298858494002e+00
#define HIP_LN2_X_1024 7.0978271289338397e+2
#define HIP_LN2_X_1025 7.1047586007394398e+2
#define HIP_LN2_X_1075 7.4513321910194122e+2
#define HIP_LG2_X_1024 3.0825471555991675e+2
#define HIP_LG2_X_1075 3.2360724533877976e+2
#define HIP_TWO_TO_23 8388608.0
#define HIP_TWO_TO_52 4503599627370496.0
#define HIP_TWO_TO_53 9007199254740992.0
#define HIP_TWO_TO_54 18014398509481984.0
#define HIP_TWO_TO_M54 0x1p-54
#define HIP_TWO_TO_M1022 0x1p-1022
#define HIP_TRIG_PLOSS 2147483648.0
#define HIP_DBL2INT_CVT \
  6755399441055744.0  // 1.5 * 2^52: adding it leaves an integer in the low bits

#endif
