"""The gwbench dataplane for Python: a thin, typed face of ``csrc/gwdp.h``.

Python decides, C moves packets. Calls release the GIL. ``init()`` comes first; everything else calls it on demand.
Failures are :class:`DataplaneError` with the one line that the C code wrote.

=============  =====================================================================================
``impls``      CPU features, implementations, known answers, one-shot crypto operations
``suites``     the suite table and overhead arithmetic
``sa``         SAs in memory: seal and open batches of packets
``load``       generators and sinks of packets at a stated rate
``packets``    checksum, segmentation, coalescing as pure functions
``path``       the running dataplane: TUN, sockets, loops, counters
``page``       counters of a dataplane in another process
``selection``  providers, and which implementation is preferred
``bench``      timed runs of one implementation or of ESP in memory
=============  =====================================================================================
"""

from dataplane._native import DataplaneError, cpu_features, init, version
from dataplane.bench import (
    HANDOVERS,
    BenchSample,
    DepthSample,
    EngineSample,
    bench_af_alg,
    bench_engine,
    bench_esp,
    bench_impl,
    bench_sa_setup,
)
from dataplane.impls import (
    Impl,
    Key,
    Op,
    OpResult,
    find_impl,
    implementations,
    inject_fault,
    run,
    selftest,
)
from dataplane.load import Generator, GeneratorStats, Sink, SinkStats
from dataplane.packets import checksum, coalesce, segment
from dataplane.page import CounterPage
from dataplane.path import OFFLOADS, Dataplane, DataplaneConfig, DataplaneInfo, LoopCounters
from dataplane.sa import (
    DROP_REASONS,
    Opened,
    Sa,
    SaCounters,
    SaParams,
    Sealed,
    Selector,
    open_batch,
    seal_batch,
)
from dataplane.selection import ProvidersLoaded, load_providers, measure_selection, prefer, preferred, reset_selection
from dataplane.suites import Suite, find_suite, inner_mtu, resolve, suites, wire_len

__all__ = [
    "DROP_REASONS",
    "HANDOVERS",
    "OFFLOADS",
    "BenchSample",
    "CounterPage",
    "Dataplane",
    "DataplaneConfig",
    "DataplaneError",
    "DataplaneInfo",
    "DepthSample",
    "EngineSample",
    "Generator",
    "GeneratorStats",
    "Impl",
    "Key",
    "LoopCounters",
    "Op",
    "OpResult",
    "Opened",
    "ProvidersLoaded",
    "Sa",
    "SaCounters",
    "SaParams",
    "Sealed",
    "Selector",
    "Sink",
    "SinkStats",
    "Suite",
    "bench_af_alg",
    "bench_engine",
    "bench_esp",
    "bench_impl",
    "bench_sa_setup",
    "checksum",
    "coalesce",
    "cpu_features",
    "find_impl",
    "find_suite",
    "implementations",
    "init",
    "inject_fault",
    "inner_mtu",
    "load_providers",
    "measure_selection",
    "open_batch",
    "prefer",
    "preferred",
    "reset_selection",
    "resolve",
    "run",
    "seal_batch",
    "segment",
    "selftest",
    "suites",
    "version",
    "wire_len",
]
