"""Let a CUDA build of torch run on a machine without NVIDIA's libraries.

    python tools/no_cuda.py VENV/lib/pythonX.Y/site-packages/torch

Old releases come from the package index as CUDA builds, whose libraries are gigabytes that no
recording on the CPU uses: the CPU kernels and the autograd engine are in torch's own files. For
each library that torch needs and this machine lacks, this compiles a stand-in into torch/lib,
where torch looks first. Every function of a stand-in answers "no device". Linux with gcc, nm and
readelf; standard library only.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

NO_DEVICE = 100  # cudaErrorNoDevice
GPU_FUNCTION = re.compile(
    r"_{0,2}(?:cu|nccl|pnccl|nvtx|nvrtc|nvml|nvshmem|nvJit|magma)[A-Za-z_0-9]*"
)
SYSTEM_LIBRARIES = ("libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1")
ANSWER = "int {name}(void) {{ return {code}; }}"
TEXT = 'const char *{name}(int code) {{ return "no CUDA here"; }}'
COUNT = "int cudaGetDeviceCount(int *count) {{ *count = 0; return {code}; }}"
COMPILE = ["gcc", "-w", "-fno-builtin", "-shared", "-fPIC", "-O0"]
FUNCTIONS = "libnocuda.so"


def lay_stand_ins(torch_folder: Path) -> list[str]:
    """Compile what *torch_folder* lacks into its ``lib``; return the names of the stand-ins."""
    lib = torch_folder / "lib"
    libraries = sorted(lib.glob("*.so*")) + sorted(torch_folder.glob("*.so"))
    present = {path.name for path in lib.glob("*.so*")}
    system = run("/sbin/ldconfig", "-p")
    users = {
        path: [
            name
            for name in re.findall(r"\(NEEDED\).*\[(.+?)\]", run("readelf", "-dW", str(path)))
            if name not in present and f"\t{name} " not in system
        ]
        for path in libraries
    }
    missing = sorted({name for names in users.values() for name in names})
    if not missing:
        return []
    wanted = set().union(*(symbols(path, "undefined-only") for path in users if users[path]))
    for path in libraries:
        wanted -= symbols(path, "defined-only")
    for name in SYSTEM_LIBRARIES:
        found = re.search(rf"\t{re.escape(name)} .*=> (\S+)", system)
        if found:
            wanted -= symbols(Path(found[1]), "defined-only")
    write_libraries(lib, sorted(filter(GPU_FUNCTION.fullmatch, wanted)), missing)
    return missing


def write_libraries(lib: Path, functions: list[str], missing: list[str]) -> None:
    """Compile one library with all *functions*, and an empty one for each *missing* name.

    The functions cannot lie in the missing libraries themselves: torch asks for some of them with
    a version, and the loader refuses an unversioned function in the very library that the version
    names, but takes it from any other.
    """
    lines = [COUNT.format(code=NO_DEVICE)]
    for name in functions:
        if name != "cudaGetDeviceCount":
            template = TEXT if re.search(r"Error(?:String|Name)", name) else ANSWER
            lines.append(template.format(name=name, code=NO_DEVICE))
    source, empty = lib / "nocuda.c", lib / "empty.c"
    source.write_text("\n".join(lines) + "\n")
    empty.write_text("")
    target = lib / FUNCTIONS
    subprocess.run([*COMPILE, f"-Wl,-soname,{FUNCTIONS}", "-o", target, source], check=True)
    for name in missing:
        flags = [f"-Wl,-soname,{name}", "-Wl,--no-as-needed", "-Wl,-rpath,$ORIGIN"]
        command = [*COMPILE, *flags, "-o", lib / name, empty, f"-L{lib}", "-lnocuda"]
        subprocess.run(command, check=True)


def symbols(path: Path, kind: str) -> set[str]:
    """Return the *kind* of dynamic symbols of a library, without their versions."""
    lines = run("nm", "-D", f"--{kind}", str(path)).splitlines()
    return {line.split()[-1].partition("@")[0] for line in lines}


def run(*command: str) -> str:
    """Return what *command* prints; a file that it cannot read prints nothing."""
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


if __name__ == "__main__":
    print("\n".join(lay_stand_ins(Path(sys.argv[1]))) or "nothing missing")
