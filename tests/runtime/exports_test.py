#!/usr/bin/env python3
"""Every function that the HIP headers declare is exported by libamdhip64.so, and nothing else is."""

import argparse
import re
import subprocess
import sys

# Generated code calls these; no header declares them.
# What Margay adds: the checker and the profiler for bindings, and the addresses of the tile library's tensors,
# and what the substitute of RCCL needs.
OWN = {"margayAllowPeerAccess", "margayCheckBegin", "margayCheckEnd", "margayCheckError",
       "margayDescribeKernel", "margayDescribeLoads", "margayDescribeTensor", "margayDevice", "margayDevices", "margayEventTime",
       "margayLaunchData", "margayLaunchPurpose",
       "margayProfileBegin", "margayProfileEnd", "margayProfileError", "margayProfileLeaveOut",
       "margayProfileValue"}
# A few that programs of ROCm 5, 6 and 7 require.
VERSIONS = {"hipMalloc": "hip_4.2", "hipGraphLaunch": "hip_4.3", "hipMallocAsync": "hip_5.1",
            "hipGetDevicePropertiesR0600": "hip_6.0", "hipGetProcAddress": "hip_6.1",
            "hipExtModuleLaunchKernel": "hip_4.2", "hipModuleGetFunctionCount": "hip_7.1"}
# Declared by the headers, but not in ROCm's version scripts.
WITHOUT_VERSION = {"hipCreateSurfaceObject", "hipDestroySurfaceObject", "hipEnableActivityCallback",
                   "hipInitActivityCallback", "hipRegisterActivityCallback", "hipRegisterApiCallback",
                   "hipRemoveActivityCallback", "hipRemoveApiCallback"}
REGISTRATION = {
    "__hipRegisterFatBinary", "__hipUnregisterFatBinary", "__hipRegisterFunction", "__hipRegisterVar",
    "__hipRegisterManagedVar", "__hipRegisterSurface", "__hipRegisterTexture",
}


def declared(compiler):
    """Names of the functions that C code may call after including the HIP runtime header."""
    text = subprocess.run(
        [compiler, "-x", "c", "-E", "-P", "-D__HIP_PLATFORM_AMD__", "-"],
        input="#include <hip/hip_runtime_api.h>\n#include <hip/hiprtc.h>\n", text=True, check=True,
        capture_output=True).stdout
    return set(re.findall(r"\b((?:__)?hip\w+)\s*\([^()]*(?:\([^()]*\)[^()]*)*\)\s*(?:__attribute__\s*\(\(.*?\)\)\s*)?;", text))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--nm", required=True)
    parser.add_argument("--unsupported", required=True)
    arguments = parser.parse_args()

    symbols = subprocess.run([arguments.nm, "-D", "--defined-only", arguments.library], text=True,
                             check=True, capture_output=True).stdout
    # Kind A are the version nodes of the version script.
    exported = {fields[2].split("@")[0] for fields in map(str.split, symbols.splitlines())
                if len(fields) == 3 and fields[1] != "A"}
    wanted = declared(arguments.compiler) | REGISTRATION | OWN
    if len(wanted) < 400:
        sys.exit(f"only {len(wanted)} declarations were found: the headers are not read right")

    with open(arguments.unsupported, encoding="ascii") as file:
        unsupported = re.findall(r"^MARGAY_UNSUPPORTED\w*\((\w+)\)", file.read(), re.M)

    problems = [f"declared, but not exported: {name}" for name in sorted(wanted - exported)]
    problems += [f"exported, but neither HIP's nor ours: {name}" for name in sorted(exported)
                 if not re.match(r"(__)?hip|_Z\d+hip", name) and name not in OWN]
    problems += [f"listed twice as unsupported: {name}" for name in sorted(set(unsupported))
                 if unsupported.count(name) > 1]
    # Who links with a library that was linked to ROCm's needs the very versions.
    versions = {name: version for name, _, version in
                (fields[2].partition("@@") for fields in map(str.split, symbols.splitlines())
                 if len(fields) == 3)}
    problems += [f"{name} has the version {versions.get(name)!r}, not {version}"
                 for name, version in VERSIONS.items() if versions.get(name) != version]
    problems += [f"has no version: {name}" for name in sorted(exported)
                 if not versions.get(name) and name not in OWN | WITHOUT_VERSION]
    if problems:
        sys.exit("\n".join(problems))
    print(f"{len(wanted)} declared, {len(exported)} exported, {len(unsupported)} of them unsupported")


if __name__ == "__main__":
    main()
