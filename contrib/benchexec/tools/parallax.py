"""How BenchExec runs Parallax, and how it reads the answer.

Use it with this folder's parent in PYTHONPATH and tool="tools.parallax".
"""

import benchexec.result as result
from benchexec.tools.template import BaseTool2, UnsupportedFeatureException

# The line that says how a task was decided.
VERDICT = "verdict: "

# Seconds and share of the memory that are left to write down the answer.
SECONDS_LEFT = 5
MEMORY_SHARE = 0.95

# Verdicts that are taken as they are.
KNOWN = {
    result.RESULT_TRUE_PROP,
    result.RESULT_FALSE_REACH,
    result.RESULT_FALSE_DATARACE,
    result.RESULT_FALSE_OVERFLOW,
    result.RESULT_FALSE_DEREF,
    result.RESULT_FALSE_FREE,
    result.RESULT_FALSE_MEMTRACK,
    result.RESULT_FALSE_MEMCLEANUP,
}


class Tool(BaseTool2):
    """Parallax verifies concurrent programs against every order of memory effects."""

    def executable(self, tool_locator):
        return tool_locator.find_executable("parallax", subdir="bin")

    def name(self):
        return "Parallax"

    def project_url(self):
        return None

    def version(self, executable):
        return self._version_from_tool(executable, line_prefix="parallax")

    def cmdline(self, executable, options, task, rlimits):
        command = [executable, "verify", "--quiet", "--format", "svcomp"]
        command += ["--model", "sc", "--extern", "nondet"]
        command += self._data_model(task)
        if task.property_file:
            command += ["--property", task.property_file]
        command += self._limits(rlimits)
        return command + list(options) + list(task.input_files)

    def _data_model(self, task):
        options = task.options if isinstance(task.options, dict) else {}
        if options.get("language", "C") != "C":
            raise UnsupportedFeatureException("Parallax verifies programs in C")
        data_model = options.get("data_model")
        if data_model is None:
            return []
        if data_model not in ("ILP32", "LP64"):
            raise UnsupportedFeatureException(f"there is no data model '{data_model}'")
        return ["--data-model", data_model.lower()]

    def _limits(self, rlimits):
        limits = []
        seconds = rlimits.cputime or rlimits.walltime
        if seconds:
            limits += ["--timeout", str(max(1, seconds - SECONDS_LEFT))]
        if rlimits.memory:
            mebibytes = int(rlimits.memory * MEMORY_SHARE) // (1 << 20)
            limits += ["--memory-limit", str(max(1, mebibytes))]
        return limits

    def determine_result(self, run):
        verdicts = [line for line in run.output if line.startswith(VERDICT)]
        if not verdicts:
            return result.RESULT_ERROR
        verdict = verdicts[-1][len(VERDICT) :].strip()
        if verdict in KNOWN:
            return verdict
        return result.RESULT_UNKNOWN
