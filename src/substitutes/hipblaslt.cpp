// hipBLASLt. Source of the names: its public headers, ROCm 7.
#define MARGAY_LIBRARY "hipBLASLt"
#define MARGAY_STATUS 7  // HIPBLAS_STATUS_NOT_SUPPORTED
#include "substitutes/refuse.h"

MARGAY_REFUSE(hipblasLtCreate)
MARGAY_REFUSE(hipblasLtDestroy)
MARGAY_REFUSE(hipblasLtMatmul)
MARGAY_REFUSE(hipblasLtMatmulAlgoGetHeuristic)
MARGAY_REFUSE(hipblasLtMatmulDescCreate)
MARGAY_REFUSE(hipblasLtMatmulDescDestroy)
MARGAY_REFUSE(hipblasLtMatmulDescSetAttribute)
MARGAY_REFUSE(hipblasLtMatmulPreferenceCreate)
MARGAY_REFUSE(hipblasLtMatmulPreferenceDestroy)
MARGAY_REFUSE(hipblasLtMatmulPreferenceSetAttribute)
MARGAY_REFUSE(hipblasLtMatrixLayoutCreate)
MARGAY_REFUSE(hipblasLtMatrixLayoutDestroy)
MARGAY_REFUSE(hipblasLtMatrixLayoutSetAttribute)

// The C++ interface, hipblaslt_ext: used with a handle, which is never given.
MARGAY_UNREACHABLE(0, "_ZN13hipblaslt_ext10GemmInputs4setAEPKv")
MARGAY_UNREACHABLE(1, "_ZN13hipblaslt_ext10GemmInputs4setBEPKv")
MARGAY_UNREACHABLE(2, "_ZN13hipblaslt_ext10GemmInputs4setCEPKv")
MARGAY_UNREACHABLE(3, "_ZN13hipblaslt_ext10GemmInputs4setDEPKv")
MARGAY_UNREACHABLE(4, "_ZN13hipblaslt_ext10GemmInputs7setBetaEPKv")
MARGAY_UNREACHABLE(5, "_ZN13hipblaslt_ext10GemmInputs7setBiasEPKv")
MARGAY_UNREACHABLE(6, "_ZN13hipblaslt_ext10GemmInputs8setAlphaEPKv")
MARGAY_UNREACHABLE(7, "_ZN13hipblaslt_ext10GemmInputsC1Ev")
MARGAY_UNREACHABLE(8, "_ZN13hipblaslt_ext10GemmInputsD1Ev")
MARGAY_UNREACHABLE(
    9,
    "_ZN13hipblaslt_ext11GroupedGemm10setProblemERSt6vectorIlSaIlEES4_S4_S4_S4_S4_S4_S4_S4_S4_S4_"
    "S4_RS1_INS_12GemmEpilogueESaIS5_EERS1_INS_10GemmInputsESaIS9_EERNS_15GemmProblemTypeE")
MARGAY_UNREACHABLE(10, "_ZN13hipblaslt_ext11GroupedGemm15getProblemTypesEv")
MARGAY_UNREACHABLE(11, "_ZN13hipblaslt_ext11GroupedGemm37getDefaultValueForDeviceUserArgumentsEPv")
MARGAY_UNREACHABLE(12, "_ZN13hipblaslt_ext11GroupedGemm3runEPvP12ihipStream_t")
MARGAY_UNREACHABLE(13,
                   "_ZN13hipblaslt_ext11GroupedGemmC1EPv18hipblasOperation_tS2_11hipDataTypeS3_S3_"
                   "S3_20hipblasComputeType_t")
MARGAY_UNREACHABLE(
    14,
    "_ZN13hipblaslt_ext11getAllAlgosEPvNS_8GemmTypeE18hipblasOperation_tS2_11hipDataTypeS3_S3_S3_"
    "20hipblasComputeType_tRSt6vectorI33_hipblasLtMatmulHeuristicResult_tSaIS6_EE")
MARGAY_UNREACHABLE(15, "_ZN13hipblaslt_ext12GemmEpilogue15setBiasDataTypeE11hipDataType")
MARGAY_UNREACHABLE(16, "_ZN13hipblaslt_ext12GemmEpilogue7setModeE19hipblasLtEpilogue_t")
MARGAY_UNREACHABLE(17, "_ZN13hipblaslt_ext12GemmEpilogueC1Ev")
MARGAY_UNREACHABLE(18, "_ZN13hipblaslt_ext12GemmEpilogueD1Ev")
MARGAY_UNREACHABLE(
    19, "_ZN13hipblaslt_ext12GemmInstance10initializeERK22_hipblasLtMatmulAlgo_tPvbP12ihipStream_t")
MARGAY_UNREACHABLE(20,
                   "_ZN13hipblaslt_ext12GemmInstance15isAlgoSupportedER22_hipblasLtMatmulAlgo_tRm")
MARGAY_UNREACHABLE(21, "_ZN13hipblaslt_ext12GemmInstance20setMaxWorkspaceBytesEm")
MARGAY_UNREACHABLE(22,
                   "_ZN13hipblaslt_ext15GemmProblemTypeC1E18hipblasOperation_tS1_11hipDataTypeS2_"
                   "S2_S2_20hipblasComputeType_t")
MARGAY_UNREACHABLE(23, "_ZN13hipblaslt_ext15GemmProblemTypeC1ERKS0_")
MARGAY_UNREACHABLE(24, "_ZN13hipblaslt_ext15GemmProblemTypeD1Ev")
MARGAY_UNREACHABLE(25, "_ZN13hipblaslt_ext16getIndexFromAlgoER22_hipblasLtMatmulAlgo_t")
MARGAY_UNREACHABLE(26, "_ZNK13hipblaslt_ext15GemmProblemType14getTypeComputeEv")
MARGAY_UNREACHABLE(27, "_ZNK13hipblaslt_ext15GemmProblemType6getOpAEv")
MARGAY_UNREACHABLE(28, "_ZNK13hipblaslt_ext15GemmProblemType6getOpBEv")
MARGAY_UNREACHABLE(29, "_ZNK13hipblaslt_ext15GemmProblemType8getTypeAEv")
MARGAY_UNREACHABLE(30, "_ZNK13hipblaslt_ext15GemmProblemType8getTypeBEv")
MARGAY_UNREACHABLE(31, "_ZNK13hipblaslt_ext15GemmProblemType8getTypeCEv")
MARGAY_UNREACHABLE(32, "_ZNK13hipblaslt_ext15GemmProblemType8getTypeDEv")
