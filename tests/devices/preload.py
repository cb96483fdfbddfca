"""What workers of test clusters load: their steps are written down, take a while, and may fail or end the worker.

Environment: JM_STEPS, a file that gets a line `PID JOB FIRST STOP` for each step; JM_SLOW, seconds that each takes;
JM_GATE, a file that the ninth step and later ones wait for; JM_FATAL and JM_FAILS, an item whose step ends the worker
or raises; JM_VERSION, what jaxmotif says that it is; JM_MOMENT, seconds that a worker works on a job alone.
"""

import os
import signal
import time

import jaxmotif
from jaxmotif.devices import _cluster_call as calls
from jaxmotif.devices import _job as runner

jaxmotif.__version__ = os.environ.get("JM_VERSION", jaxmotif.__version__)
calls.MOMENT = float(os.environ.get("JM_MOMENT", calls.MOMENT))


def step(running, span):
    with open(os.environ.get("JM_STEPS", os.devnull), "a+") as steps:
        steps.write(f"{os.getpid()} {running._job.name} {span.first} {span.stop}\n")
        steps.seek(0)
        begun = len(steps.readlines())
    while "JM_GATE" in os.environ and begun > 8 and not os.path.exists(os.environ["JM_GATE"]):
        time.sleep(0.05)
    time.sleep(float(os.environ.get("JM_SLOW", "0")))
    if span.first <= int(os.environ.get("JM_FATAL", "-1")) < span.stop:
        os.kill(os.getpid(), signal.SIGKILL)
    if span.first <= int(os.environ.get("JM_FAILS", "-1")) < span.stop:
        raise RuntimeError("this item cannot be done")
    running.plain_step(span)


if not hasattr(runner._TaskRunner, "plain_step"):  # Dask may load this twice
    runner._TaskRunner.plain_step = runner._TaskRunner.step
    runner._TaskRunner.step = step
