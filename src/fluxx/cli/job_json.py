"""Jobs as JSON: the same shape as the job API's, so that one program reads both."""

from fluxx.api.schemas import HistoryLine, JobDetails
from fluxx.cli.watching import Seen


def job_json(seen: Seen) -> JobDetails:
    """Return a job with its history as the job API shows it (story 14)."""
    return JobDetails.of(seen.job, [HistoryLine.of(line) for line in seen.history])
